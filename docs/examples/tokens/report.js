// report.js PORT URL TEXT: writes a report under a lock of the front door at PORT.
const { randomBytes } = require('node:crypto')
const { createClient } = require('redis')

async function main ([port, url, text]) {
  const door = await createClient({ url: `redis://localhost:${port}` }).connect()
  const value = randomBytes(18).toString('base64url') // ours alone
  const [held, token] = await door.sendCommand(
    ['LOCK.ACQUIRE', 'report', value, 'PX', '30000', 'WAIT', '10000'])
  if (!held) throw new Error('another writes the report')
  try {
    const headers = { 'Fencing-Token': String(token) }
    const answer = await fetch(url, { method: 'PUT', headers, body: text })
    if (!answer.ok) throw new Error(await answer.text())
    console.log('written under token', token)
  } finally {
    await door.sendCommand(['LOCK.RELEASE', 'report', value])
    door.destroy()
  }
}

main(process.argv.slice(2)).catch(error => { console.error(error.message); process.exitCode = 1 })
