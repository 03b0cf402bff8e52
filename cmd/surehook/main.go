// Command surehook is the command line of Surehook: the API for people, a
// receiver for tests, and Surehook in one process for development. docs/cli.md
// documents every command.
package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// requestTimeout bounds a request. API Gateway answers after 29 s at the latest.
const requestTimeout = 35 * time.Second

func main() {
	log.SetOutput(io.Discard) // net/http writes bytes of other parties to the standard logger
	// The first Ctrl-C ends the command in order, the second ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	p := &program{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Lookup: os.LookupEnv, Home: os.UserConfigDir, Cache: os.UserCacheDir, Now: time.Now, Width: terminalWidth,
		HTTP: &http.Client{Timeout: requestTimeout},
	}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// terminalWidth returns the width of the terminal behind standard output; 0 if there is none.
func terminalWidth() int {
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return width
}
