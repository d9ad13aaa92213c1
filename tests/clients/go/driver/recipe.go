package driver

import (
	"crypto/rand"
	"time"
)

// The scripts compare the value first, as Redis's own pages have it.
const (
	ExtendScript = `if redis.call("get",KEYS[1]) == ARGV[1] then ` +
		`return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`
	ReleaseScript = `if redis.call("get",KEYS[1]) == ARGV[1] then ` +
		`return redis.call("del",KEYS[1]) else return 0 end`
)

const retry = 20 * time.Millisecond

// Recipe is the single-node recipe of Redis's own pages, for clients that bring no lock of their
// own: Set is SET NX PX, true when it was set; Extend and Release run the scripts above.
type Recipe struct {
	Set     func(name, value string, ttl time.Duration) (bool, error)
	Extend  func(name, value string, ttl time.Duration) (int64, error)
	Release func(name, value string) (int64, error)
	values  map[string]string
}

// User gives the recipe's words to a driver.
func (recipe *Recipe) User(open func([]string) error, features map[string]func() error) User {
	recipe.values = map[string]string{}
	return User{Open: open, Acquire: recipe.acquire, Extend: recipe.extend,
		Release: recipe.release, Features: features}
}

func (recipe *Recipe) acquire(name string, ttl, wait time.Duration) (bool, error) {
	end := time.Now().Add(wait)
	for {
		value := rand.Text()
		got, err := recipe.Set(name, value, ttl)
		if got {
			recipe.values[name] = value
		}
		if got || err != nil || time.Now().After(end) {
			return got, err
		}
		time.Sleep(retry)
	}
}

func (recipe *Recipe) extend(name string, ttl time.Duration) (bool, error) {
	done, err := recipe.Extend(name, recipe.values[name], ttl)
	return done == 1, err
}

func (recipe *Recipe) release(name string) (bool, error) {
	done, err := recipe.Release(name, recipe.values[name])
	return done == 1, err
}
