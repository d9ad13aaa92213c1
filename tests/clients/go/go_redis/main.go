// go-redis: the single-node recipe, and what else people do with it.
// Its argument is the RESP version.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlock/clients/driver"

	"github.com/redis/go-redis/v9"
)

var (
	ctx     = context.Background()
	client  *redis.Client
	extend  = redis.NewScript(driver.ExtendScript)
	release = redis.NewScript(driver.ReleaseScript)
)

const ttl = 5 * time.Second

func open(addresses []string) error {
	client = connect(addresses[0])
	return client.Ping(ctx).Err()
}

func connect(address string) *redis.Client {
	protocol, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	return redis.NewClient(&redis.Options{
		Addr: address, Protocol: protocol, TLSConfig: driver.TLS(),
		Username: os.Getenv("CLIENT_USER"), Password: os.Getenv("CLIENT_PASSWORD")})
}

func pipeline() error {
	var changed *redis.IntCmd
	var read *redis.StringCmd
	_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "p", 1, ttl)
		changed, read = pipe.Incr(ctx, "p"), pipe.Get(ctx, "p")
		pipe.Del(ctx, "p")
		return nil
	})
	return driver.First(err, driver.Want("INCR", changed.Val(), int64(2)),
		driver.Want("GET", read.Val(), "2"))
}

func transaction() error {
	var read *redis.StringCmd
	_, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "t", "1", ttl)
		read = pipe.GetDel(ctx, "t")
		return nil
	})
	return driver.First(err, driver.Want("GETDEL", read.Val(), "1"))
}

func watch() error {
	err := client.Watch(ctx, func(tx *redis.Tx) error {
		client.Set(ctx, "w", "1", ttl) // over another connection
		_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Get(ctx, "w")
			return nil
		})
		return err
	}, "w")
	if !errors.Is(err, redis.TxFailedErr) {
		return fmt.Errorf("EXEC after a change: %v", err)
	}
	return driver.Want("UNLINK", client.Unlink(ctx, "w").Val(), int64(1))
}

func scan() error {
	var names, found []string
	for number := range 50 {
		names = append(names, fmt.Sprintf("scan-%02d", number))
		client.Set(ctx, names[number], "v", ttl)
	}
	each := client.Scan(ctx, 0, "scan-*", 7).Iterator()
	for each.Next(ctx) {
		found = append(found, each.Val())
	}
	slices.Sort(found)
	return driver.First(each.Err(), driver.Want("SCAN", found, names),
		driver.Want("DEL", client.Del(ctx, names...).Val(), int64(50)))
}

func hash() error {
	return driver.First(
		driver.Want("HSET", client.HSet(ctx, "h", "a", 1, "b", 2).Val(), int64(2)),
		driver.Want("HINCRBY", client.HIncrBy(ctx, "h", "a", 4).Val(), int64(5)),
		driver.Want("HGETALL", client.HGetAll(ctx, "h").Val(), map[string]string{"a": "5", "b": "2"}),
		driver.Want("DEL", client.Del(ctx, "h").Val(), int64(1)))
}

func pubsub() error {
	subscriber := client.Subscribe(ctx, "news")
	defer subscriber.Close()
	heard := subscriber.Channel()
	if err := subscriber.PSubscribe(ctx, "n?ws"); err != nil {
		return err
	}
	for end := time.Now().Add(ttl); client.Publish(ctx, "news", "early").Val() < 2; {
		if time.Now().After(end) {
			return errors.New("PUBLISH never finds both subscriptions")
		}
	}
	client.Publish(ctx, "news", "hello")
	for count := 0; count < 2; {
		select {
		case message := <-heard:
			if message.Payload == "hello" {
				count++
			}
		case <-time.After(ttl):
			return errors.New("a subscriber hears nothing")
		}
	}
	return nil
}

// go-redis holds a lock while it waits for the next line, which Start and Stop wait for: so there is
// to be one all the time.
func monitor() error {
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(10 * time.Millisecond):
				client.Get(ctx, "monitored")
			}
		}
	}()
	for attempt := 0; attempt < 5; attempt++ {
		if showsGet() {
			return nil
		}
	}
	return errors.New("MONITOR shows no GET")
}

// go-redis gives the connection back to its pool while it waits for the first line. Where that has
// come by then the pool finds something unread and closes it (pool.Put), so nothing is ever shown.
func showsGet() bool {
	other := connect(client.Options().Addr)
	defer other.Close()
	lines := make(chan string, 10000)
	watched := other.Monitor(ctx, lines)
	watched.Start()
	defer watched.Stop()
	for end := time.After(time.Second); ; {
		select {
		case line := <-lines:
			if strings.Contains(strings.ToLower(line), `"get" "monitored"`) {
				return true
			}
		case <-end:
			return false
		}
	}
}

func admin() error {
	named := client.Conn()
	defer named.Close()
	err := named.ClientSetName(ctx, "alice").Err()
	if list := named.ClientList(ctx).Val(); !strings.Contains(list, " name=alice ") {
		return fmt.Errorf("CLIENT LIST: %s", list)
	}
	info := client.InfoMap(ctx, "server")
	return driver.First(err, info.Err(), client.DBSize(ctx).Err(),
		driver.Want("redis_mode", info.Item("Server", "redis_mode"), "standalone"))
}

func main() {
	recipe := driver.Recipe{
		Set: func(name, value string, ttl time.Duration) (bool, error) {
			return client.SetNX(ctx, name, value, ttl).Result()
		},
		Extend: func(name, value string, ttl time.Duration) (int64, error) {
			return extend.Run(ctx, client, []string{name}, value, ttl.Milliseconds()).Int64()
		},
		Release: func(name, value string) (int64, error) {
			return release.Run(ctx, client, []string{name}, value).Int64()
		},
	}
	features := map[string]func() error{
		"pipeline": pipeline, "transaction": transaction, "watch": watch, "scan": scan,
		"hash": hash, "pubsub": pubsub, "admin": admin,
	}
	if os.Args[1] == "2" { // with RESP3 its Monitor passes on no line, although they arrive
		features["monitor"] = monitor
	}
	driver.Serve(recipe.User(open, features))
}
