package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"surehook.example/surehook/client/openapi"
)

const (
	listenPort = 3000
	// removeTimeout limits the removal of the endpoint after Ctrl-C.
	removeTimeout     = 10 * time.Second
	readHeaderTimeout = 10 * time.Second
	secretLength      = 32 // bytes of the secret of the created endpoint
)

// listening is the command line of listen.
type listening struct {
	bind       string
	port       uint16
	secretFile string
	subscribe  []string
	public     string
	forward    string
	answers    []int
	delay      time.Duration
	count      int
}

func (p *program) listen() *cobra.Command {
	var l listening
	c := &cobra.Command{
		Use: "listen", Short: "Receive webhooks: verify, print, forward and answer", Args: arguments,
		Long: "Receive webhooks for tests: verify and print each request, forward it when asked to, and answer.\n" +
			"A request with a wrong signature is answered with 401 and not forwarded. A challenge is answered.\n" +
			"--subscribe creates an endpoint for this receiver, and deletes the endpoint at the end.",
		Example: "  surehook listen --subscribe 'order.*' --forward http://127.0.0.1:8000/hooks\n" +
			"  surehook listen --secret-file secret --answer 503,503,200",
	}
	f := c.Flags()
	f.StringVar(&l.bind, "bind", "127.0.0.1", "address to listen on")
	f.Uint16Var(&l.port, "port", listenPort, "port; 0 chooses a free port")
	f.StringVar(&l.secretFile, "secret-file", "", "file with the endpoint's secret (whsec_...)")
	f.StringSliceVar(&l.subscribe, "subscribe", nil, "create an endpoint with this event type, such as 'order.*'; repeatable")
	f.StringVar(&l.public, "public-url", "", "URL of the created endpoint, when a tunnel leads to this receiver")
	f.StringVar(&l.forward, "forward", "", "send each verified request on to this URL, and answer with its status")
	f.IntSliceVar(&l.answers, "answer", []int{http.StatusOK}, "statuses of the answers in order; the last repeats")
	f.DurationVar(&l.delay, "delay", 0, "wait before each answer, such as 2s")
	f.IntVar(&l.count, "count", 0, "end after this number of requests; 0 for Ctrl-C")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := errors.Join(excludes(c, "secret-file", "subscribe"), excludes(c, "forward", "answer")); err != nil {
			return err
		}
		return p.runListen(c.Context(), l)
	}
	return c
}

// check refuses flags that do not make sense together.
func (l listening) check() error {
	for _, status := range l.answers {
		if status < 200 || status > 599 {
			return usagef("--answer has %d: say statuses from 200 to 599", status)
		}
	}
	if l.forward != "" {
		if u, err := url.Parse(l.forward); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return usagef("--forward is %q: say a URL such as http://127.0.0.1:8000/hooks", l.forward)
		}
	}
	if l.public != "" && len(l.subscribe) == 0 {
		return usagef("--public-url is for --subscribe")
	}
	return nil
}

// runListen receives requests until ctx ends, or until it has the wanted number of them.
func (p *program) runListen(ctx context.Context, l listening) error {
	if err := l.check(); err != nil {
		return err
	}
	s, err := p.settings()
	if err != nil {
		return err
	}
	var v *verifier
	if l.secretFile != "" {
		if v, err = newVerifier(l.secretFile); err != nil {
			return err
		}
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", net.JoinHostPort(l.bind, strconv.Itoa(int(l.port))))
	if err != nil {
		return failure("listen: " + err.Error())
	}
	defer listener.Close() //nolint:errcheck // the server closes the listener too
	ctx, end := context.WithCancel(ctx)
	defer end()
	r := &receiver{program: p, listening: l, verifier: v, json: s.Output == outputJSON, enough: end}
	address := "http://" + listener.Addr().String()
	secret := newSecret()
	if len(l.subscribe) > 0 {
		if r.verifier, err = verifierOf(secret); err != nil {
			return err
		}
	}
	served := make(chan error, 1)
	go func() { served <- r.serve(ctx, listener) }()
	if len(l.subscribe) > 0 { // the receiver may get a challenge already
		unsubscribe, err := r.subscribeAt(ctx, s, cmp.Or(l.public, address+"/"), secret)
		if err != nil {
			return err
		}
		defer unsubscribe()
	}
	fmt.Fprintf(p.Err, "listening on %s, until Ctrl-C\n", address)
	return <-served
}

// newSecret returns a random secret of an endpoint.
func newSecret() string {
	key := make([]byte, secretLength)
	_, _ = rand.Read(key) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

// serve answers requests until ctx ends. Ctrl-C is the normal way to end it.
func (r *receiver) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: r, ReadHeaderTimeout: readHeaderTimeout}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return failure("listen: " + err.Error())
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), devGrace)
	defer cancel()
	if err := server.Shutdown(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return failure("listen: " + err.Error())
	}
	return nil
}

// subscribeAt creates an endpoint for the receiver, and returns a function that removes it.
func (r *receiver) subscribeAt(ctx context.Context, s settings, address, secret string) (unsubscribe func(), err error) {
	api, err := r.api(ctx, s)
	if err != nil {
		return nil, err
	}
	tenant, err := s.requireTenant()
	if err != nil {
		return nil, err
	}
	created, err := api.Endpoints.Create(ctx, tenant, openapi.EndpointCreate{
		Url: address, EventTypes: r.subscribe, Description: "surehook listen", Secret: secret,
	})
	if err != nil {
		return nil, fmt.Errorf("create the endpoint: %w", err)
	}
	unsubscribe = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
		defer cancel()
		if err := api.Endpoints.Delete(ctx, tenant, created.Id); err != nil {
			fmt.Fprintf(r.Err, "The endpoint stays: %s\ndelete it: surehook endpoints delete %s\n", describe(err), created.Id)
		}
	}
	fmt.Fprintf(r.Err, "created the endpoint %s for %s of tenant %s\n", created.Id, address, tenant)
	return unsubscribe, nil
}
