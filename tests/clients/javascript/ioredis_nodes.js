// Connections of ioredis for a library that locks over them. Its default is to keep commands for a
// node that is gone until it is back, or until 20 attempts to connect have failed, which takes 10 s
// with version 5 and over a minute with 6: a lock waits as long. Its README's enableOfflineQueue
// makes them fail at once.
'use strict'

const { once } = require('node:events')

exports.connectAll = async function connectAll (Redis, addresses) {
  const clients = addresses.map((address) => new Redis({ ...address, enableOfflineQueue: false }))
  for (const client of clients) client.on('error', () => {}) // told by the calls that fail
  await Promise.all(clients.map((client) => once(client, 'ready')))
  return clients
}
