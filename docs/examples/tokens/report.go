// report PORT URL TEXT: writes a report under a lock of the front door at PORT.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
)

func main() {
	ctx, port, url, text := context.Background(), os.Args[1], os.Args[2], os.Args[3]
	door := redis.NewClient(&redis.Options{Addr: "localhost:" + port})
	random := make([]byte, 18)
	rand.Read(random)
	value := fmt.Sprintf("%x", random) // ours alone
	told, err := door.Do(ctx, "LOCK.ACQUIRE", "report", value, "PX", 30000, "WAIT", 10000).Slice()
	if err != nil || told[0].(int64) == 0 {
		log.Fatal("another writes the report, or ", err)
	}
	defer door.Do(ctx, "LOCK.RELEASE", "report", value)
	request, _ := http.NewRequest("PUT", url, strings.NewReader(text))
	request.Header.Set("Fencing-Token", fmt.Sprint(told[1]))
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode >= 300 {
		log.Print("not written: ", answer, err)
		return
	}
	fmt.Println("written under token", told[1])
}
