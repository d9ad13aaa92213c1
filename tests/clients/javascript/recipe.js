// The single-node recipe of Redis's own pages, for clients that bring no lock of their own:
// SET NX PX, and scripts that compare the value before they extend or release.
'use strict'

const { randomUUID } = require('node:crypto')
const { sleep } = require('./driver')

const RETRY_MS = 20

exports.EXTEND = 'if redis.call("get",KEYS[1]) == ARGV[1] then ' +
  'return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end'
exports.RELEASE = 'if redis.call("get",KEYS[1]) == ARGV[1] then ' +
  'return redis.call("del",KEYS[1]) else return 0 end'

// Expects of its heir: _set(name, value, ttlMs), true when it was set; _script(text, name, values).
exports.RecipeUser = class RecipeUser {
  constructor () { this._values = {} }

  async acquire (name, ttlMs, waitMs) {
    const end = performance.now() + waitMs
    for (;;) {
      const value = randomUUID()
      if (await this._set(name, value, ttlMs)) {
        this._values[name] = value
        return true
      }
      if (performance.now() >= end) return false
      await sleep(RETRY_MS)
    }
  }

  async extend (name, ttlMs) {
    return await this._script(exports.EXTEND, name, [this._values[name], String(ttlMs)]) === 1
  }

  async release (name) {
    return await this._script(exports.RELEASE, name, [this._values[name]]) === 1
  }
}
