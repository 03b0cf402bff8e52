package strict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"surehook.example/surehook/localstack/tools/iam"
)

// Options configures Start.
type Options struct {
	Upstream string    // address of the emulator, http://127.0.0.1:4566
	Rules    *Rulebook // from Load
	Log      io.Writer // gets a line per refused request
	Now      func() time.Time
	// Role returns the role of the access key of a request to the region; nil for a key
	// without policies, such as the account's own. A nil Role has no roles.
	Role func(ctx context.Context, key, region string) (*iam.Role, error)
}

// Front is a running front. Front is safe for concurrent use.
type Front struct {
	URL string // address for clients of the emulator

	opts   Options
	server *http.Server
	proxy  *httputil.ReverseProxy
	served chan error

	tables    tables
	pace      pace
	schedules schedules
	faults    faults
	uses      uses

	mu         sync.Mutex // guards violations and the log
	violations []Violation
}

// Start starts the front on a free port of loopback. The caller must call Stop.
func Start(ctx context.Context, opts Options) (*Front, error) {
	upstream, err := url.Parse(opts.Upstream)
	if err != nil {
		return nil, fmt.Errorf("start the strict front: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the strict front: %w", err)
	}
	// The transport ignores the environment's proxies, and keeps one connection
	// per concurrent function.
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true, IdleConnTimeout: time.Minute}
	f := &Front{
		URL:    "http://" + l.Addr().String(),
		opts:   opts,
		served: make(chan error, 1),
		proxy: &httputil.ReverseProxy{
			Transport: transport,
			ErrorLog:  log.New(io.Discard, "", 0), // the client gets 502
			Rewrite: func(p *httputil.ProxyRequest) {
				p.SetURL(upstream)
				p.Out.Host = p.In.Host // emulators recognize the HTTP API by its host
				// ReverseProxy removes faulty queries and Forwarded headers.
				p.Out.URL.RawQuery = p.In.URL.RawQuery
				for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
					if values, ok := p.In.Header[name]; ok {
						p.Out.Header[name] = values
					}
				}
				// Clients reach AWS over TLS only. Policies deny requests without TLS.
				if service(p.In) != "" {
					p.Out.Header.Set("X-Forwarded-Proto", "https")
				}
			},
		},
	}
	f.tables.ask = f.describe
	f.server = &http.Server{Handler: f, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(opts.Log, "", 0)}
	go func() {
		f.served <- f.server.Serve(l)
		close(f.served)
	}()
	return f, nil
}

// Stop ends the front. The error lists the violations. A second call is safe.
func (f *Front) Stop() error {
	err := f.server.Close()
	if served := <-f.served; !errors.Is(served, http.ErrServerClosed) { // nil at a second call
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("stop the strict front: %w", err)
	}
	return f.verdict()
}

// maxBody is above the largest request of a checked service: 16 MB in DynamoDB.
const maxBody = 32 << 20

// ServeHTTP refuses a request that breaks a rule and forwards any other
// request.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m := f.opts.Rules.models[service(r)]
	if c := invocation(r); m == nil && c != nil {
		f.permit(w, r, c, func(w http.ResponseWriter) { f.proxy.ServeHTTP(w, r) })
		return
	}
	if m == nil {
		f.proxy.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil { // the client is gone, or the body is too large for any service
		http.Error(w, "read the request: "+err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	c, err := m.decode(r, body)
	if err != nil {
		f.violation(w, c, &refusal{code: "UnknownOperationException", message: err.Error()})
		return
	}
	if refused := f.check(r, c); refused != nil {
		f.violation(w, c, refused)
		return
	}
	if refused := f.behave(c); refused != nil {
		refused.write(w, m)
		return
	}
	f.permit(w, r, c, func(w http.ResponseWriter) { f.forward(w, r, c, body) })
}

// check returns the broken rule of the call, or nil.
func (f *Front) check(r *http.Request, c *call) *refusal {
	if refused := c.check(); refused != nil {
		return refused
	}
	switch c.service {
	case "dynamodb":
		return f.checkDynamoDB(r, c)
	case "kms":
		return checkKMS(c)
	case "scheduler":
		return checkScheduler(c, f.opts.Now())
	case "sns":
		return checkSNS(c)
	case "sqs":
		return checkSQS(c)
	}
	return nil
}

// behave returns the answer that AWS gives to a valid call and emulators do not
// give: a throttle, or a conflict with a fired schedule.
func (f *Front) behave(c *call) *refusal {
	switch c.service {
	case "dynamodb":
		if f.faults.throttles(c) {
			return &refusal{code: "ThrottlingException", message: "Throughput exceeds the current capacity of your table or index (injected)."}
		}
		return f.pace.refuse(f.writes(c), f.opts.Now())
	case "scheduler":
		return f.schedules.refuse(c, f.opts.Now())
	}
	return nil
}

// forward forwards the call, and a copy of it first if faults say so.
func (f *Front) forward(w http.ResponseWriter, r *http.Request, c *call, body []byte) {
	if f.faults.copies(c) {
		again := r.Clone(r.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		f.proxy.ServeHTTP(&answer{}, again)
	}
	status := &answer{ResponseWriter: w}
	f.proxy.ServeHTTP(status, r)
	if status.code == http.StatusOK {
		f.schedules.learn(c)
		f.tables.learn(c)
	}
}

// answer records an answer's status. Without a ResponseWriter, answer keeps
// header and body.
type answer struct {
	http.ResponseWriter

	code   int
	header http.Header
	body   bytes.Buffer
}

func (a *answer) Header() http.Header {
	if a.ResponseWriter != nil {
		return a.ResponseWriter.Header()
	}
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

func (a *answer) WriteHeader(code int) {
	a.code = code
	if a.ResponseWriter != nil {
		a.ResponseWriter.WriteHeader(code)
	}
}

func (a *answer) Write(p []byte) (int, error) {
	if a.ResponseWriter != nil {
		return a.ResponseWriter.Write(p)
	}
	return a.body.Write(p)
}
