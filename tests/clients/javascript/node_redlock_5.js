// node-redlock 5 over five nodes, with ioredis.
'use strict'

const assert = require('node:assert')
const Redis = require('ioredis')
const { default: Redlock } = require('redlock')
const { serve, sleep } = require('./driver')
const { connectAll } = require('./ioredis_nodes')

const RETRY_MS = 100

class User {
  async open (addresses) {
    this._clients = await connectAll(Redis, addresses)
    this._redlock = new Redlock(this._clients)
    this._redlock.on('error', () => {}) // what single nodes say; the calls tell the rest
    this._locks = {}
  }

  async acquire (name, ttlMs, waitMs) {
    const settings = { retryCount: Math.floor(waitMs / RETRY_MS), retryDelay: RETRY_MS }
    this._locks[name] = await this._redlock.acquire([name], ttlMs, settings)
  }

  async extend (name, ttlMs) { this._locks[name] = await this._locks[name].extend(ttlMs) }

  async release (name) { await this._locks[name].release() }

  // Extends by itself while the routine runs.
  async using () {
    await this._redlock.using(['in-use'], 1000, async (signal) => {
      await sleep(1500)
      assert.ok(!signal.aborted, signal.error)
      await assert.rejects(this._redlock.acquire(['in-use'], 1000, { retryCount: 0 }))
    })
    assert.equal(await this._clients[0].exists('in-use'), 0)
  }
}

serve(new User())
