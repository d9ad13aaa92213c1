// What the Node.js drivers share: the protocol of tests/clients/contender.py.
//
//   class User {
//     async open(addresses) {}             // [{host, port}]
//     async acquire(name, ttlMs, waitMs) {}  // true or false
//     async extend(name, ttlMs) {}
//     async release(name) {}
//     async pipeline() {}                  // any other method is a feature; _names are private
//   }
//   serve(new User())
//
// An answer is "no" for false, "error" for what was thrown, else "yes".
'use strict'

const { readFileSync } = require('node:fs')
const readline = require('node:readline')

exports.serve = async function serve (user) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const words = line.split(' ')
    process.stdout.write('= ' + (await answer(user, words)).join(' ') + '\n')
  }
  process.exit(0) // connections that the library keeps open must not keep the driver
}

async function answer (user, words) {
  const started = performance.now()
  const took = () => (performance.now() - started).toFixed(3)
  try {
    const done = await user[words[0]](...values(words))
    return [done === false ? 'no' : 'yes', took(), words[0] === 'open' ? knownWords(user) : '']
  } catch (error) {
    return ['error', took(), tell(error)]
  }
}

function values ([word, ...rest]) {
  if (word !== 'open') return [...rest.slice(0, 1), ...rest.slice(1).map(Number)]
  return [rest.map((address) => address.split(':')).map(([host, port]) => ({ host, port: +port }))]
}

function knownWords (user) {
  return Object.getOwnPropertyNames(Object.getPrototypeOf(user))
    .filter((name) => !name.startsWith('_') && !['constructor', 'open'].includes(name)).join(' ')
}

function tell (error) {
  return `${error.constructor.name}: ${error.message}`.replace(/\s+/g, ' ')
}

// The user that a client is where nodes know users by a password.
exports.user = () => {
  const { CLIENT_USER: username, CLIENT_PASSWORD: password } = process.env
  return username ? { username, password } : {}
}

// What node's tls is to be told where nodes speak TLS; nothing where they do not.
exports.tls = () => {
  const { CLIENT_TLS_CA: ca, CLIENT_TLS_CERT: cert, CLIENT_TLS_KEY: key } = process.env
  return ca && { ca: readFileSync(ca), cert: readFileSync(cert), key: readFileSync(key) }
}

exports.sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
