// node-redis: the single-node recipe, and what else people do with it.
// Its argument is the RESP version.
'use strict'

const assert = require('node:assert')
const { createClient, defineScript, WatchError } = require('redis')
const { serve, sleep } = require('./driver')
const { RecipeUser, RELEASE } = require('./recipe')

const RESP = Number(process.argv[2])

const unlock = defineScript({
  NUMBER_OF_KEYS: 1,
  SCRIPT: RELEASE,
  parseCommand (parser, key, value) {
    parser.pushKey(key)
    parser.push(value)
  },
  transformReply: (reply) => reply
})

class User extends RecipeUser {
  async open ([{ host, port }]) {
    this._client = createClient({ url: `redis://${host}:${port}`, RESP, scripts: { unlock } })
    this._client.on('error', () => {}) // told by the calls that fail
    await this._client.connect()
  }

  async _set (name, value, ttlMs) {
    const expiration = { type: 'PX', value: ttlMs }
    return await this._client.set(name, value, { condition: 'NX', expiration }) === 'OK'
  }

  async _script (text, name, values) {
    return this._client.eval(text, { keys: [name], arguments: values })
  }

  // The words of the recipe, so that they are known; the rest leaves nothing behind.
  acquire (...words) { return super.acquire(...words) }
  extend (...words) { return super.extend(...words) }
  release (...words) { return super.release(...words) }

  async script () {
    await this._client.set('by-hand', 'me', { PX: 5000 })
    assert.equal(await this._client.unlock('by-hand', 'other'), 0)
    assert.equal(await this._client.unlock('by-hand', 'me'), 1)
  }

  async pipeline () {
    const replies = await Promise.all([
      this._client.set('p', '1', { PX: 5000 }), this._client.incr('p'), this._client.get('p'),
      this._client.del('p')])
    assert.deepEqual(replies, ['OK', 2, '2', 1])
  }

  async transaction () {
    const replies = await this._client.multi().set('t', '1', { PX: 5000 }).getDel('t').exec()
    assert.deepEqual(replies, ['OK', '1'])
  }

  async watch () {
    const other = await this._client.duplicate().connect()
    await this._client.watch('w')
    await other.set('w', '1', { PX: 5000 })
    await assert.rejects(this._client.multi().get('w').exec(), WatchError)
    assert.equal(await other.unlink('w'), 1)
    await other.close()
  }

  async scan () {
    const names = Array.from({ length: 50 }, (_, number) => `scan-${number}`)
    for (const name of names) await this._client.set(name, 'v', { PX: 5000 })
    const found = []
    for await (const some of this._client.scanIterator({ MATCH: 'scan-*', COUNT: 7 })) {
      found.push(...some)
    }
    assert.deepEqual(found.sort(), names.sort())
    assert.equal(await this._client.del(names), 50)
  }

  async hash () {
    assert.equal(await this._client.hSet('h', { a: 1, b: 2 }), 2)
    assert.equal(await this._client.hIncrBy('h', 'a', 4), 5)
    assert.deepEqual({ ...await this._client.hGetAll('h') }, { a: '5', b: '2' })
    assert.equal(await this._client.del('h'), 1)
  }

  async pubsub () {
    const subscriber = await this._client.duplicate().connect()
    const heard = []
    await subscriber.subscribe('news', (message) => heard.push(message))
    await subscriber.pSubscribe('n?ws', (message) => heard.push(message))
    assert.equal(await this._client.publish('news', 'hello'), 2)
    for (let turn = 0; heard.length < 2 && turn < 200; turn++) await sleep(10)
    assert.deepEqual(heard, ['hello', 'hello'])
    await subscriber.unsubscribe('news')
    await subscriber.close()
  }

  async admin () {
    await this._client.clientSetName('alice')
    const names = (await this._client.clientList()).map((client) => client.name)
    assert.ok(names.includes('alice'))
    assert.match(await this._client.info('server'), /redis_version:/)
    assert.ok(await this._client.dbSize() >= 0)
  }
}

serve(new User())
