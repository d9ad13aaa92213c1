// node-redlock 4 over five nodes, with ioredis.
'use strict'

const Redis = require('ioredis')
const Redlock = require('redlock')
const { serve } = require('./driver')
const { connectAll } = require('./ioredis_nodes')

const RETRY_MS = 100

class User {
  async open (addresses) {
    this._clients = await connectAll(Redis, addresses)
    this._locks = {}
  }

  async acquire (name, ttlMs, waitMs) {
    const redlock = new Redlock(this._clients, {
      retryCount: Math.floor(waitMs / RETRY_MS), retryDelay: RETRY_MS
    })
    try {
      this._locks[name] = await redlock.lock(name, ttlMs)
    } catch (error) {
      if (error instanceof Redlock.LockError) return false
      throw error
    }
  }

  async extend (name, ttlMs) { this._locks[name] = await this._locks[name].extend(ttlMs) }

  async release (name) { await this._locks[name].unlock() }
}

serve(new User())
