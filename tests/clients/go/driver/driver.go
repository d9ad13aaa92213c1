// Package driver is what the Go drivers share: the protocol of tests/clients/contender.py.
//
//	func main() {
//		driver.Serve(driver.User{
//			Open:     func(addresses []string) error { … },
//			Acquire:  func(name string, ttl, wait time.Duration) (bool, error) { … },
//			Extend:   func(name string, ttl time.Duration) (bool, error) { … }, // nil: it has none
//			Release:  func(name string) (bool, error) { … },
//			Features: map[string]func() error{"pipeline": …},
//		})
//	}
//
// An answer is "error" for an error, "no" for false, else "yes".
package driver

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// User is one user of a lock library.
type User struct {
	Open     func(addresses []string) error
	Acquire  func(name string, ttl, wait time.Duration) (bool, error)
	Extend   func(name string, ttl time.Duration) (bool, error)
	Release  func(name string) (bool, error)
	Features map[string]func() error
}

// Serve answers until standard input ends. What a library prints goes to standard error, so that it
// does not get between the answers.
func Serve(user User) {
	answers := os.Stdout
	os.Stdout = os.Stderr
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Fprintln(answers, user.answer(strings.Fields(lines.Text())))
	}
}

func (user User) answer(words []string) string {
	started := time.Now()
	done, err := user.do(words[0], words[1:])
	took := float64(time.Since(started).Microseconds()) / 1000
	word, text := "yes", ""
	switch {
	case err != nil:
		word, text = "error", tell(err)
	case !done:
		word = "no"
	case words[0] == "open":
		text = strings.Join(user.words(), " ")
	}
	return fmt.Sprintf("= %s %.3f %s", word, took, text)
}

func (user User) do(word string, values []string) (bool, error) {
	switch word {
	case "open":
		return true, user.Open(values)
	case "acquire":
		return user.Acquire(values[0], milliseconds(values[1]), milliseconds(values[2]))
	case "extend":
		return user.Extend(values[0], milliseconds(values[1]))
	case "release":
		return user.Release(values[0])
	}
	return true, user.Features[word]()
}

func (user User) words() []string {
	known := []string{"acquire", "release"}
	if user.Extend != nil {
		known = append(known, "extend")
	}
	for word := range user.Features {
		known = append(known, word)
	}
	slices.Sort(known)
	return known
}

func milliseconds(text string) time.Duration {
	count, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return time.Duration(count) * time.Millisecond
}

// The error's text on one line, after its type unless that is one of those that only carry a text.
func tell(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	kind := reflect.TypeOf(err).String()
	for _, plain := range []string{"*errors.", "*fmt."} {
		if strings.HasPrefix(kind, plain) {
			return text
		}
	}
	return kind + ": " + text
}

// Want is an error unless the feature answered what it must.
func Want(what string, found, wanted any) error {
	if reflect.DeepEqual(found, wanted) {
		return nil
	}
	return fmt.Errorf("%s: %v, not %v", what, found, wanted)
}

// First is the first error of several, or nil.
func First(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
