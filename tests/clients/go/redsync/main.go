// redsync over five nodes, with go-redis.
package main

import (
	"errors"
	"fmt"
	"time"

	"redlock/clients/driver"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredislib "github.com/redis/go-redis/v9"
)

const (
	retry = 100 * time.Millisecond
	ttl   = 5 * time.Second
)

var (
	locks *redsync.Redsync
	held  = map[string]*redsync.Mutex{}
)

func open(addresses []string) error {
	var pools []redis.Pool
	for _, address := range addresses {
		client := goredislib.NewClient(&goredislib.Options{Addr: address})
		pools = append(pools, goredis.NewPool(client))
	}
	locks = redsync.New(pools...)
	return nil
}

func acquire(name string, ttl, wait time.Duration) (bool, error) {
	mutex := locks.NewMutex(name, redsync.WithExpiry(ttl),
		redsync.WithTries(1+int(wait/retry)), redsync.WithRetryDelay(retry))
	err := mutex.Lock()
	var taken *redsync.ErrTaken
	if errors.As(err, &taken) {
		return false, nil
	}
	if err == nil {
		held[name] = mutex
	}
	return err == nil, err
}

func extend(name string, ttl time.Duration) (bool, error) {
	mutex := locks.NewMutex(name, redsync.WithExpiry(ttl), redsync.WithValue(held[name].Value()))
	done, err := mutex.Extend()
	if done {
		held[name] = mutex
	}
	return done, err
}

func release(name string) (bool, error) { return held[name].Unlock() }

// An answer as soon as a quorum has answered.
func failFast() error {
	mutex := locks.NewMutex("fast", redsync.WithExpiry(ttl), redsync.WithFailFast(true))
	if err := mutex.Lock(); err != nil {
		return err
	}
	other := locks.NewMutex("fast", redsync.WithFailFast(true)).TryLock()
	var taken *redsync.ErrTaken
	if !errors.As(other, &taken) {
		return fmt.Errorf("TryLock of a held lock: %v", other)
	}
	_, err := mutex.Unlock()
	return err
}

// An extension that takes the lock at nodes that have forgotten it.
func setNXOnExtend() error {
	mutex := locks.NewMutex("again", redsync.WithExpiry(ttl), redsync.WithSetNXOnExtend())
	if err := mutex.Lock(); err != nil {
		return err
	}
	extended, err := mutex.Extend()
	unlocked, unlockError := mutex.Unlock()
	again, againError := mutex.Extend()
	gone, goneError := mutex.Unlock()
	return driver.First(err, unlockError, againError, goneError, driver.Want(
		"Extend, Unlock, both again", []bool{extended, unlocked, again, gone},
		[]bool{true, true, true, true}))
}

func main() {
	driver.Serve(driver.User{
		Open: open, Acquire: acquire, Extend: extend, Release: release,
		Features: map[string]func() error{"failFast": failFast, "setNXOnExtend": setNXOnExtend},
	})
}
