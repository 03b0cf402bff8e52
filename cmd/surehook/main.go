// Command surehook is the command line of Surehook: the API for people, a
// receiver for tests, and Surehook in one process for development. docs/cli.md
// documents every command.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/term"
)

// requestTimeout bounds a request. API Gateway answers after 29 s at the latest.
const requestTimeout = 35 * time.Second

func main() {
	log.SetOutput(io.Discard) // net/http writes bytes that other parties send to the standard logger
	// The first Ctrl-C lets the command finish, and the second one ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	p := &program{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Lookup: os.LookupEnv, Home: os.UserConfigDir, Cache: os.UserCacheDir, Now: time.Now, Width: terminalWidth, Browse: browse,
		HTTP:   &http.Client{Timeout: requestTimeout},
		Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
	if term.IsTerminal(descriptor(os.Stdin)) {
		p.Secret = readSecretLine
	}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// descriptor returns the number of an open file, which is small.
func descriptor(f *os.File) int { return int(f.Fd()) }

// terminalWidth returns the width of the terminal behind standard output; 0 if there is none.
func terminalWidth() int {
	width, _, err := term.GetSize(descriptor(os.Stdout))
	if err != nil {
		return 0
	}
	return width
}

// readSecretLine reads a line from the terminal without showing it.
func readSecretLine(ctx context.Context) (string, error) {
	terminal := descriptor(os.Stdin)
	before, err := term.GetState(terminal)
	if err != nil {
		return "", err
	}
	defer fmt.Fprintln(os.Stderr) // the terminal does not show the end of the line either
	text, err := await(ctx, func() (string, error) {
		line, err := term.ReadPassword(terminal)
		return string(line), err
	})
	if errors.Is(err, errInterrupted) { // the read continues, and would leave the terminal without echo
		_ = term.Restore(terminal, before)
	}
	return text, err
}

// browse starts the program of the platform that opens a URL.
func browse(ctx context.Context, address string) error {
	words := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		words = []string{"open"}
	case "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return exec.CommandContext(ctx, words[0], append(words[1:], address)...).Run() //nolint:gosec // a fixed program; the caller wraps
}
