// redis-semaphore, with ioredis: its argument is Mutex (one node) or RedlockMutex (five).
'use strict'

const assert = require('node:assert')
const Redis = require('ioredis')
const semaphore = require('redis-semaphore')
const { serve, sleep } = require('./driver')
const { connectAll } = require('./ioredis_nodes')

const RETRY_MS = 50

class User {
  async open (addresses) {
    this._clients = await connectAll(Redis, addresses)
    this._mutexes = {}
  }

  _mutex (name, options) {
    const kind = process.argv[2]
    return new semaphore[kind](kind === 'Mutex' ? this._clients[0] : this._clients, name, options)
  }

  async acquire (name, ttlMs, waitMs) {
    const mutex = this._mutex(name, {
      lockTimeout: ttlMs, refreshInterval: 0, retryInterval: RETRY_MS,
      acquireAttemptsLimit: 1 + Math.floor(waitMs / RETRY_MS)
    })
    if (!await mutex.tryAcquire()) return false
    this._mutexes[name] = mutex
  }

  // "Dynamically adjusting an existing lock", as its README has it.
  async extend (name, ttlMs) {
    const { identifier } = this._mutexes[name]
    const mutex = this._mutex(name, {
      identifier, acquiredExternally: true, lockTimeout: ttlMs, refreshInterval: 0,
      acquireAttemptsLimit: 1
    })
    if (!await mutex.tryAcquire()) return false
    this._mutexes[name] = mutex
  }

  async release (name) { await this._mutexes[name].release() }

  // Refreshes itself at 0.8 of its time.
  async refresh () {
    const mutex = this._mutex('refreshed', { lockTimeout: 1000 })
    await mutex.acquire()
    await sleep(1500)
    assert.ok(mutex.isAcquired)
    const other = this._mutex('refreshed', { lockTimeout: 1000, acquireAttemptsLimit: 1 })
    assert.equal(await other.tryAcquire(), false)
    await mutex.release()
    assert.equal(await this._clients[0].exists('mutex:refreshed'), 0)
  }
}

serve(new User())
