// Command web deploys the stack to an emulator and runs the browser tests of the
// console and the portal, web/tests, against the deployed functions.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"surehook.example/surehook/localstack/emulator"
	"surehook.example/surehook/localstack/stack"
)

// logo is a green square.
const logo = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIyNCIgaGVpZ2h0PSIyNCI+PHJlY3Qgd2lkdGg9IjI0IiBoZWlnaHQ9IjI0IiByeD0iNiIgZmlsbD0iIzJiOGEzZSIvPjwvc3ZnPg=="

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

// run passes the arguments to Playwright.
func run(ctx context.Context, args []string) (err error) {
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	embedder, err := freeOrigin(ctx)
	if err != nil {
		return err
	}
	e, err := emulator.Start(ctx, emulator.MiniStack, emulator.Options{Root: root, Name: "web", Env: os.Environ()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	s, err := stack.Deploy(ctx, e, stack.Options{
		Root: root, Env: os.Environ(), Progress: os.Stdout,
		Context: []string{"PORTAL_NAME=Acme webhooks", "PORTAL_ACCENT=#0b7285", "PORTAL_LOGO=" + logo, "PORTAL_EMBEDDERS=" + embedder},
	})
	if err != nil {
		return err
	}
	front, err := frontOf(s)
	if err != nil {
		return err
	}
	defer front.Close()
	return playwright(ctx, root, args, "LOCAL_STACK=1", "SUREHOOK_API="+front.URL, "SUREHOOK_KEY="+s.Key, "SUREHOOK_PORTAL_EMBEDDERS="+embedder)
}

// frontOf starts a server on loopback in front of the API. The emulator finds the API by
// its host name, which Node.js does not resolve.
func frontOf(s *stack.Stack) (*httptest.Server, error) {
	address, err := url.Parse(s.Address)
	if err != nil {
		return nil, fmt.Errorf("read the address of the emulator: %w", err)
	}
	return httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(address)
		r.Out.Host = s.Host
	}}), nil
}

// freeOrigin returns an origin on loopback with a free port, for the page that embeds the portal.
func freeOrigin(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "localhost:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close() //nolint:errcheck // the port is free again either way
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "", fmt.Errorf("read the port: %w", err)
	}
	return "http://localhost:" + port, nil
}

func playwright(ctx context.Context, root string, args []string, env ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(root, "web", "node_modules", ".bin", "playwright"), append([]string{"test"}, args...)...)
	cmd.Dir = filepath.Join(root, "web")
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run the browser tests: %w", err)
	}
	return nil
}
