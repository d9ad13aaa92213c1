// bsm/redislock, over go-redis.
package main

import (
	"context"
	"errors"
	"time"

	"redlock/clients/driver"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

const retry = 50 * time.Millisecond

var (
	ctx    = context.Background()
	locker *redislock.Client
	held   = map[string]*redislock.Lock{}
)

func open(addresses []string) error {
	client := redis.NewClient(&redis.Options{Addr: addresses[0]})
	locker = redislock.New(client)
	return client.Ping(ctx).Err()
}

func acquire(name string, ttl, wait time.Duration) (bool, error) {
	strategy := redislock.LimitRetry(redislock.LinearBackoff(retry), int(wait/retry))
	lock, err := locker.Obtain(ctx, name, ttl, &redislock.Options{RetryStrategy: strategy})
	if err == nil {
		held[name] = lock
	}
	return unless(redislock.ErrNotObtained, err)
}

func extend(name string, ttl time.Duration) (bool, error) {
	return unless(redislock.ErrNotObtained, held[name].Refresh(ctx, ttl, nil))
}

func release(name string) (bool, error) {
	return unless(redislock.ErrLockNotHeld, held[name].Release(ctx))
}

// No when this is the refusal, an error when it is another.
func unless(refusal, err error) (bool, error) {
	if errors.Is(err, refusal) {
		return false, nil
	}
	return err == nil, err
}

// A lock with a value and metadata of its user's, taken again by the same value.
func token() error {
	const ttl = 5 * time.Second
	options := &redislock.Options{Token: "mine", Metadata: ":first"}
	_, err := locker.Obtain(ctx, "named", ttl, options)
	again, againError := locker.Obtain(ctx, "named", ttl,
		&redislock.Options{Token: "mine", Metadata: ":second"})
	if err := driver.First(err, againError); err != nil {
		return err
	}
	_, otherError := locker.Obtain(ctx, "named", ttl, &redislock.Options{Token: "other"})
	left, leftError := again.TTL(ctx)
	return driver.First(leftError,
		driver.Want("another's Obtain", otherError, redislock.ErrNotObtained),
		driver.Want("Metadata", again.Metadata(), ":second"),
		driver.Want("TTL", left > 0 && left <= ttl, true), again.Release(ctx))
}

func main() {
	driver.Serve(driver.User{
		Open: open, Acquire: acquire, Extend: extend, Release: release,
		Features: map[string]func() error{"token": token},
	})
}
