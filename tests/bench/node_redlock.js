// node_redlock.js PORTS IN_FLIGHT SECONDS: locks over the Redis servers at these ports (7001,7002…)
// by node-redlock with ioredis, acquired and released, so many at once; what it took, as JSON.
'use strict'

const Redis = require('ioredis')
const { default: Redlock } = require('redlock')

const TTL_MS = 30000

async function main (ports, inFlight, seconds) {
  const clients = ports.split(',').map((port) => new Redis(Number(port), '127.0.0.1'))
  await Promise.all(clients.map((client) => client.ping()))
  const redlock = new Redlock(clients, { retryCount: 0 })
  let failed = 0
  redlock.on('error', () => { ++failed })

  const tookNs = []
  let names = 0
  const began = process.hrtime.bigint()
  const end = began + BigInt(Math.round(seconds * 1e9))
  const cpuBefore = process.cpuUsage()
  async function work () {
    while (process.hrtime.bigint() < end) {
      const asked = process.hrtime.bigint()
      const lock = await redlock.acquire(['bench:' + names++], TTL_MS)
      await lock.release()
      tookNs.push(Number(process.hrtime.bigint() - asked))
    }
  }
  await Promise.all(Array.from({ length: Number(inFlight) }, work))
  const cpu = process.cpuUsage(cpuBefore)
  const passedS = Number(process.hrtime.bigint() - began) / 1e9
  if (failed > 0) throw new Error(failed + ' errors of single servers')
  tookNs.sort((a, b) => a - b)
  console.log(JSON.stringify({
    pairs_per_second: tookNs.length / passedS,
    cpu_us_per_pair: (cpu.user + cpu.system) / tookNs.length,
    p50_us: tookNs[Math.floor(tookNs.length / 2)] / 1000
  }))
  for (const client of clients) client.disconnect()
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(String(error))
  process.exit(1)
})
