package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"surehook.example/surehook/localstack/stack"
)

const (
	devEvents      = 5000
	devConnections = 32
	devLimit       = 5 * time.Minute // of everything
)

// dev measures the process of `make dev`.
func dev(ctx context.Context) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, devLimit)
	defer cancel()
	folder, err := os.MkdirTemp("", "surehook-bench-")
	if err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the system clears its temporary folder
	program := filepath.Join(folder, "surehook")
	if err := build(ctx, program, "./cmd/surehook", "-trimpath", "-ldflags", "-s -w"); err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, program, "dev", "--port", "0")
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return "", fmt.Errorf("start dev: %w", err)
	}
	began := time.Now()
	if err := command.Start(); err != nil {
		return "", fmt.Errorf("start dev: %w", err)
	}
	defer func() {
		_ = command.Process.Signal(syscall.SIGTERM) // fails only when the program has ended
		err = errors.Join(err, command.Wait())
	}()
	api := &stack.Client{HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: devConnections}}}
	lines := bufio.NewScanner(out)
	for api.Key == "" && lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "   API="); ok {
			api.Address = address
		}
		if key, ok := strings.CutPrefix(lines.Text(), "   KEY="); ok {
			api.Key = key
		}
	}
	started := time.Since(began)
	go func() { _, _ = io.Copy(io.Discard, out) }() // a full pipe would stop the program
	rate, err := devRate(ctx, api)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(devText, devConnections) + table([]string{"start", "accepted and delivered"}, [][]string{{fmt.Sprintf("%.2f s", started.Seconds()), fmt.Sprintf("%.0f/s", rate)}}), nil
}

// devRate returns the deliveries per second, from the first post to the last arrival.
func devRate(ctx context.Context, api *stack.Client) (float64, error) {
	var came atomic.Int64
	all := make(chan struct{})
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a short body is an event that came in vain
		if came.Add(1) == devEvents {
			close(all)
		}
	}))
	defer sink.Close()
	for n := range most {
		if _, err := api.CreateEndpoint(ctx, tenantOf(n), map[string]any{"url": sink.URL + "/" + strconv.Itoa(n), "event_types": []string{"*"}}); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	var lines sync.WaitGroup
	var faults [devConnections]error
	for c := range devConnections {
		lines.Go(func() {
			for n := c; n < devEvents && faults[c] == nil; n += devConnections {
				_, faults[c] = api.PostEvent(ctx, tenantOf(n%most), "order.paid", payload)
			}
		})
	}
	lines.Wait()
	if err := errors.Join(faults[:]...); err != nil {
		return 0, err
	}
	select {
	case <-all:
		return devEvents / time.Since(began).Seconds(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("%d of %d events came: %w", came.Load(), devEvents, context.Cause(ctx))
	}
}

const devText = `## ` + "`make dev`" + `

For developing receivers, and never deployed: all use cases in one process. Start is the time until the address is printed; the rate is of single posts on %d connections.

`
