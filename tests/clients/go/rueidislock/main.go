// rueidislock on one node. Its argument is "tracking" (its default: it learns of releases by CLIENT
// TRACKING) or "polling" (its cache off). It extends a lock by itself for as long as the lock's
// context lives, so the TTL of a lock here is the deadline of its context.
package main

import (
	"context"
	"errors"
	"os"
	"time"

	"redlock/clients/driver"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

const (
	longest = time.Hour   // longer than any context here: nothing is extended unasked
	short   = time.Second // of the lock that is extended
	patient = time.Second // for a node's answer, and between two tries; 20 ms by default
)

type lock struct {
	context context.Context
	release context.CancelFunc
}

var (
	locker, extending rueidislock.Locker
	held              = map[string]lock{}
)

func open(addresses []string) (err error) {
	if locker, err = newLocker(addresses, longest); err != nil {
		return err
	}
	extending, err = newLocker(addresses, short)
	return err
}

func newLocker(addresses []string, validity time.Duration) (rueidislock.Locker, error) {
	return rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{
			InitAddress: addresses, DisableCache: os.Args[1] == "polling",
		},
		KeyMajority: 1, NoLoopTracking: true, KeyValidity: validity, TryNextAfter: patient,
	})
}

func acquire(name string, ttl, wait time.Duration) (bool, error) {
	limited, cancel := context.WithTimeout(context.Background(), ttl)
	take := locker.TryWithContext
	if wait > 0 {
		take = locker.WithContext // until the context ends, which is the lock's TTL
	}
	lockContext, release, err := take(limited, name)
	if err != nil {
		cancel()
		if errors.Is(err, rueidislock.ErrNotLocked) {
			return false, nil
		}
		return false, err
	}
	held[name] = lock{lockContext, func() { release(); cancel() }}
	return true, nil
}

func release(name string) (bool, error) {
	lost := held[name].context.Err() != nil
	held[name].release()
	return !lost, nil
}

func extension() error {
	lockContext, release, err := extending.TryWithContext(context.Background(), "extended")
	if err != nil {
		return err
	}
	defer release()
	time.Sleep(short * 3 / 2)
	taken, err := acquire("extended", short, 0)
	return driver.First(lockContext.Err(), err, driver.Want("another gets it", taken, false))
}

func main() {
	driver.Serve(driver.User{
		Open: open, Acquire: acquire, Release: release,
		Features: map[string]func() error{"extension": extension},
	})
}
