// ioredis, 5 (RESP2) and 6 (RESP3): the single-node recipe, and what else people do with it.
'use strict'

const assert = require('node:assert')
const Redis = require('ioredis')
const { serve, sleep, tls, user } = require('./driver')
const { RecipeUser, RELEASE } = require('./recipe')

class User extends RecipeUser {
  async open ([address]) {
    this._client = new Redis({ ...address, maxRetriesPerRequest: 1, tls: tls(), ...user() })
    this._client.on('error', () => {}) // told by the calls that fail
    await this._client.ping()
  }

  async _set (name, value, ttlMs) {
    return await this._client.set(name, value, 'PX', ttlMs, 'NX') === 'OK'
  }

  async _script (text, name, values) { return this._client.eval(text, 1, name, ...values) }

  // The words of the recipe, so that they are known; the rest leaves nothing behind.
  acquire (...words) { return super.acquire(...words) }
  extend (...words) { return super.extend(...words) }
  release (...words) { return super.release(...words) }

  async defineCommand () {
    this._client.defineCommand('unlock', { numberOfKeys: 1, lua: RELEASE })
    await this._client.set('by-hand', 'me', 'PX', 5000)
    assert.equal(await this._client.unlock('by-hand', 'other'), 0)
    assert.equal(await this._client.unlock('by-hand', 'me'), 1)
  }

  async pipeline () {
    const replies = await this._client.pipeline()
      .set('p', '1', 'PX', 5000).incr('p').get('p').del('p').exec()
    assert.deepEqual(replies, [[null, 'OK'], [null, 2], [null, '2'], [null, 1]])
  }

  async transaction () {
    const replies = await this._client.multi().set('t', '1', 'PX', 5000).getdel('t').exec()
    assert.deepEqual(replies, [[null, 'OK'], [null, '1']])
  }

  async watch () {
    await this._client.watch('w')
    const other = this._client.duplicate()
    await other.set('w', '1', 'PX', 5000)
    await other.quit()
    assert.equal(await this._client.multi().get('w').exec(), null)
    assert.equal(await this._client.unlink('w'), 1)
  }

  async scan () {
    const names = Array.from({ length: 50 }, (_, number) => `scan-${number}`)
    for (const name of names) await this._client.set(name, 'v', 'PX', 5000)
    const found = []
    for await (const some of this._client.scanStream({ match: 'scan-*', count: 7 })) {
      found.push(...some)
    }
    assert.deepEqual(found.sort(), names.sort())
    assert.equal(await this._client.del(...names), 50)
  }

  async hash () {
    assert.equal(await this._client.hset('h', { a: 1, b: 2 }), 2)
    assert.equal(await this._client.hincrby('h', 'a', 4), 5)
    assert.deepEqual({ ...await this._client.hgetall('h') }, { a: '5', b: '2' })
    assert.equal(await this._client.del('h'), 1)
  }

  async pubsub () {
    const subscriber = this._client.duplicate()
    const heard = []
    subscriber.on('message', (channel, message) => heard.push([channel, message]))
    subscriber.on('pmessage', (_, channel, message) => heard.push([channel, message]))
    await subscriber.subscribe('news')
    await subscriber.psubscribe('n?ws')
    assert.equal(await this._client.publish('news', 'hello'), 2)
    for (let turn = 0; heard.length < 2 && turn < 200; turn++) await sleep(10)
    assert.deepEqual(heard, [['news', 'hello'], ['news', 'hello']])
    await subscriber.unsubscribe('news')
    await subscriber.quit()
  }

  async monitor () {
    const monitor = await this._client.duplicate().monitor()
    const seen = new Promise((resolve) => monitor.once('monitor', (_, words) => resolve(words)))
    await this._client.get('monitored')
    assert.deepEqual((await seen).map((word) => word.toLowerCase()), ['get', 'monitored'])
    monitor.disconnect()
  }

  async admin () {
    await this._client.client('SETNAME', 'alice')
    assert.match(await this._client.client('LIST'), / name=alice /)
    assert.match(await this._client.info('server'), /redis_version:/)
    assert.ok(await this._client.dbsize() >= 0)
  }
}

serve(new User())
