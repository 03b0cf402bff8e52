// Command serve puts the handler of package flaky before the API at the address that it is given, and
// prints its own address.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"surehook.example/surehook/clients/flaky"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: %s ADDRESS", os.Args[0])
	}
	api, err := url.Parse(os.Args[1])
	if err != nil {
		return fmt.Errorf("read the address: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Printf("http://%s\n", l.Addr())
	s := http.Server{Handler: flaky.New(api), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(os.Stderr, "", 0)}
	return s.Serve(l)
}
