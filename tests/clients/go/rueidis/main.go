// rueidis with its cache off: the single-node recipe, and what else people do with it.
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlock/clients/driver"

	"github.com/redis/rueidis"
)

var (
	ctx     = context.Background()
	client  rueidis.Client
	extend  = rueidis.NewLuaScript(driver.ExtendScript)
	release = rueidis.NewLuaScript(driver.ReleaseScript)
)

const ttl = 5 * time.Second

func open(addresses []string) (err error) {
	client, err = rueidis.NewClient(rueidis.ClientOption{
		InitAddress: addresses, DisableCache: true,
	})
	return err
}

func set(name, value string, ttl time.Duration) (bool, error) {
	command := client.B().Set().Key(name).Value(value).Nx().Px(ttl).Build()
	err := client.Do(ctx, command).Error()
	if rueidis.IsRedisNil(err) {
		return false, nil
	}
	return err == nil, err
}

func pipeline() error {
	replies := client.DoMulti(ctx, client.B().Set().Key("p").Value("1").Px(ttl).Build(),
		client.B().Incr().Key("p").Build(), client.B().Get().Key("p").Build(),
		client.B().Del().Key("p").Build())
	changed, changeError := replies[1].AsInt64()
	read, readError := replies[2].ToString()
	return driver.First(replies[0].Error(), changeError, readError, replies[3].Error(),
		driver.Want("INCR", changed, int64(2)), driver.Want("GET", read, "2"))
}

// A transaction needs a connection of its own, which rueidis calls dedicated.
func transaction() error {
	return client.Dedicated(func(own rueidis.DedicatedClient) error {
		replies := own.DoMulti(ctx, own.B().Multi().Build(),
			own.B().Set().Key("t").Value("1").Px(ttl).Build(), own.B().Getdel().Key("t").Build(),
			own.B().Exec().Build())
		done, err := replies[3].ToArray()
		if err != nil {
			return err
		}
		read, err := done[1].ToString()
		return driver.First(err, driver.Want("GETDEL", read, "1"))
	})
}

func watch() error {
	return client.Dedicated(func(own rueidis.DedicatedClient) error {
		err := own.Do(ctx, own.B().Watch().Key("w").Build()).Error()
		client.Do(ctx, client.B().Set().Key("w").Value("1").Px(ttl).Build())
		replies := own.DoMulti(ctx, own.B().Multi().Build(), own.B().Get().Key("w").Build(),
			own.B().Exec().Build())
		if !rueidis.IsRedisNil(replies[2].Error()) {
			return fmt.Errorf("EXEC after a change: %v", replies[2].Error())
		}
		gone, goneError := own.Do(ctx, own.B().Unlink().Key("w").Build()).AsInt64()
		return driver.First(err, goneError, driver.Want("UNLINK", gone, int64(1)))
	})
}

func scan() error {
	var names, found []string
	for number := range 50 {
		names = append(names, fmt.Sprintf("scan-%02d", number))
		client.Do(ctx, client.B().Set().Key(names[number]).Value("v").Px(ttl).Build())
	}
	for cursor, more := uint64(0), true; more; more = cursor != 0 {
		command := client.B().Scan().Cursor(cursor).Match("scan-*").Count(7).Build()
		entry, err := client.Do(ctx, command).AsScanEntry()
		if err != nil {
			return err
		}
		cursor, found = entry.Cursor, append(found, entry.Elements...)
	}
	slices.Sort(found)
	gone, err := client.Do(ctx, client.B().Del().Key(names...).Build()).AsInt64()
	return driver.First(err, driver.Want("SCAN", found, names), driver.Want("DEL", gone, int64(50)))
}

func hash() error {
	replies := client.DoMulti(ctx,
		client.B().Hset().Key("h").FieldValue().FieldValue("a", "1").FieldValue("b", "2").Build(),
		client.B().Hincrby().Key("h").Field("a").Increment(4).Build(),
		client.B().Hgetall().Key("h").Build(), client.B().Del().Key("h").Build())
	added, addError := replies[0].AsInt64()
	all, allError := replies[2].AsStrMap()
	return driver.First(addError, replies[1].Error(), allError, replies[3].Error(),
		driver.Want("HSET", added, int64(2)),
		driver.Want("HGETALL", all, map[string]string{"a": "5", "b": "2"}))
}

func pubsub() error {
	deadline, end := context.WithTimeout(ctx, ttl)
	defer end()
	told := make(chan string, 100)
	go client.Receive(deadline, client.B().Subscribe().Channel("news").Build(),
		func(rueidis.PubSubMessage) { told <- "channel" })
	go client.Receive(deadline, client.B().Psubscribe().Pattern("n?ws").Build(),
		func(rueidis.PubSubMessage) { told <- "pattern" })
	heard := map[string]bool{}
	for len(heard) < 2 {
		client.Do(ctx, client.B().Publish().Channel("news").Message("hello").Build())
		select {
		case how := <-told:
			heard[how] = true
		case <-time.After(10 * time.Millisecond):
		case <-deadline.Done():
			return errors.New("a subscriber hears nothing")
		}
	}
	return nil
}

func admin() error {
	return client.Dedicated(func(own rueidis.DedicatedClient) error {
		err := own.Do(ctx, own.B().ClientSetname().ConnectionName("alice").Build()).Error()
		list, listError := own.Do(ctx, own.B().ClientList().Build()).ToString()
		info, infoError := own.Do(ctx, own.B().Info().Section("server").Build()).ToString()
		return driver.First(err, listError, infoError,
			driver.Want("CLIENT LIST", strings.Contains(list, " name=alice "), true),
			driver.Want("INFO", strings.Contains(info, "redis_version:"), true))
	})
}

func main() {
	recipe := driver.Recipe{
		Set: set,
		Extend: func(name, value string, ttl time.Duration) (int64, error) {
			milliseconds := strconv.FormatInt(ttl.Milliseconds(), 10)
			return extend.Exec(ctx, client, []string{name}, []string{value, milliseconds}).AsInt64()
		},
		Release: func(name, value string) (int64, error) {
			return release.Exec(ctx, client, []string{name}, []string{value}).AsInt64()
		},
	}
	driver.Serve(recipe.User(open, map[string]func() error{
		"pipeline": pipeline, "transaction": transaction, "watch": watch, "scan": scan,
		"hash": hash, "pubsub": pubsub, "admin": admin,
	}))
}
