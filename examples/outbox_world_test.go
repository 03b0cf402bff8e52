//go:build examples

package examples_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/localstack/emulator"
	"surehook.example/surehook/proof/port"
)

// step is a moment in the life of a program: before a request is passed on, or after its answer came, which
// the program then never sees.
type step string

// traps are proxies that kill a program at a step.
type traps struct {
	mu      sync.Mutex
	at      step // empty when the program was killed
	program *exec.Cmd
}

// set kills the program at the step.
func (p *traps) set(at step, program *exec.Cmd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.program = at, program
}

// sprung reports whether the program was killed.
func (p *traps) sprung() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at == ""
}

var errKilled = errors.New("the program was killed")

// pass kills the program if a trap is set at the step.
func (p *traps) pass(at step) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at != at {
		return nil
	}
	p.at = ""
	return errors.Join(errKilled, p.program.Process.Kill())
}

// http returns the address of a proxy before the server. The name of a request is that of its steps.
func (p *traps) http(t *testing.T, server string, name func(*http.Request) string) string {
	t.Helper()

	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	transport := &http.Transport{MaxIdleConnsPerHost: 10}
	t.Cleanup(transport.CloseIdleConnections)
	proxy.Transport = round(func(r *http.Request) (*http.Response, error) {
		if err := p.pass(step("before " + name(r))); err != nil {
			return nil, err
		}
		r = r.WithContext(context.WithoutCancel(r.Context())) // the server's effect does not end with the program
		answer, err := transport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if err := p.pass(step("after " + name(r))); err != nil {
			return nil, errors.Join(err, answer.Body.Close())
		}
		return answer, nil
	})
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	return front.URL
}

type round func(*http.Request) (*http.Response, error)

func (r round) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// posts names the requests of a relay to Surehook.
func posts(*http.Request) string { return "post" }

// commits returns the address of a proxy before Postgres, whose steps are those of the statement COMMIT.
func (p *traps) commits(ctx context.Context, t *testing.T, server string) string {
	t.Helper()

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			program, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := (&net.Dialer{}).DialContext(ctx, "tcp", server)
			if err != nil {
				_ = program.Close()
				continue
			}
			go p.copy(upstream, program, "before commit")
			go p.copy(program, upstream, "after commit")
		}
	}()
	return listener.Addr().String()
}

// copy passes bytes on. Both the statement and the answer to it have the word commit.
func (p *traps) copy(to, from net.Conn, at step) {
	defer func() { _, _ = to.Close(), from.Close() }()
	chunk := make([]byte, 64<<10)
	for {
		n, err := from.Read(chunk)
		if bytes.Contains(bytes.ToLower(chunk[:n]), []byte("commit")) && p.pass(at) != nil {
			return
		}
		if _, writing := to.Write(chunk[:n]); err != nil || writing != nil {
			return
		}
	}
}

// postgres starts a server. On a machine without Postgres, its programs are skipped.
func postgres(ctx context.Context, t *testing.T) store {
	t.Helper()

	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin") // Debian's, beside the path
	if err != nil {
		t.Fatal(err)
	}
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err != nil {
			t.Fatal(err)
		}
		programs = append(programs, filepath.Dir(initdb))
	}
	if len(programs) == 0 {
		return store{make: func(_ context.Context, t *testing.T, _ *outbox) {
			t.Helper()
			t.Skip("no Postgres: apt-get install postgresql")
		}}
	}
	bin, folder, number := programs[len(programs)-1], t.TempDir(), port.Reserve(t)
	var as *syscall.Credential // Postgres does not run as root
	if os.Getuid() == 0 {
		account, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.ParseUint(account.Uid, 10, 32)
		gid, _ := strconv.ParseUint(account.Gid, 10, 32)
		as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := errors.Join(os.Chown(folder, int(uid), int(gid)), os.Chmod(filepath.Dir(folder), 0o711)); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(folder, "data")
	command := func(name string, arguments ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, name), arguments...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
		cmd.Dir = folder
		return cmd
	}
	if out, err := command("initdb", "--username=shop", "--auth=trust", "--no-sync", "--pgdata="+data).CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := command("postgres", "-D", data, "-k", folder, "-p", number, "-c", "listen_addresses=127.0.0.1")
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGQUIT) }
	log := new(bytes.Buffer)
	server.Stderr = log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGQUIT)
		_ = server.Wait()
		if t.Failed() {
			t.Logf("Postgres: %s", log)
		}
	})
	await(ctx, t, func() (string, bool) {
		out, err := command("pg_isready", "-h", "127.0.0.1", "-p", number).CombinedOutput()
		return fmt.Sprint(string(out), err), err == nil
	})
	database := func(ctx context.Context, t *testing.T, o *outbox) {
		t.Helper()

		p := psql{command: func(arguments ...string) *exec.Cmd {
			return exec.CommandContext(ctx, filepath.Join(bin, "psql"), append([]string{"--quiet", "--no-psqlrc", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1"}, arguments...)...)
		}, url: "postgres://shop@127.0.0.1:" + number + "/" + o.tenant}
		p.run(t, strings.TrimSuffix(p.url, o.tenant)+"postgres", "--command", `CREATE DATABASE "`+o.tenant+`"`)
		p.run(t, p.url, "--file", "outbox/schema.sql")
		o.database = p
		o.env = append(o.env, "DATABASE_URL=postgres://shop@"+o.traps.commits(ctx, t, "127.0.0.1:"+number)+"/"+o.tenant+"?sslmode=disable")
	}
	return store{database, "commit", []step{"before post", "after post", "before commit", "after commit"}}
}

// psql is a database of Postgres.
type psql struct {
	command func(arguments ...string) *exec.Cmd
	url     string
}

func (p psql) run(t *testing.T, url string, arguments ...string) []string {
	t.Helper()

	out, err := p.command(append([]string{url}, arguments...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("psql %q: %v\n%s", arguments, err, out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func (p psql) orders(_ context.Context, t *testing.T) []string {
	t.Helper()

	orders := p.run(t, p.url, "--command", "SELECT id FROM orders")
	slices.Sort(orders)
	return orders
}

func (p psql) waiting(_ context.Context, t *testing.T) []string {
	t.Helper()

	return p.run(t, p.url, "--command", "SELECT replace(coalesce(problem, ''), E'\n', ' ') FROM outbox")
}

// dynamodb starts an emulator.
func dynamodb(ctx context.Context, t *testing.T) store {
	t.Helper()

	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	aws, err := emulator.Start(ctx, emulator.MiniStack, emulator.Options{Root: root, Name: "outbox", Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := aws.Stop(); err != nil {
			t.Error(err)
		}
	})
	database := func(ctx context.Context, t *testing.T, o *outbox) {
		t.Helper()

		template, err := os.ReadFile("outbox/template.yaml")
		if err != nil {
			t.Fatal(err)
		}
		d := dynamo{url: aws.URL, stack: o.tenant}
		form := url.Values{"Action": {"CreateStack"}, "StackName": {o.tenant}, "TemplateBody": {string(template)}}
		d.call(ctx, t, "application/x-www-form-urlencoded", "cloudformation", "", form.Encode())
		await(ctx, t, func() (string, bool) {
			answer := d.call(ctx, t, "application/x-www-form-urlencoded", "cloudformation", "", url.Values{"Action": {"DescribeStacks"}, "StackName": {o.tenant}}.Encode())
			return string(answer), bytes.Contains(answer, []byte("CREATE_COMPLETE"))
		})
		o.database = d
		o.env = append(o.env, "STACK="+o.tenant, "AWS_REGION="+emulator.Region, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
			"AWS_ENDPOINT_URL="+o.traps.http(t, aws.URL, operation))
	}
	return store{database, "TransactWriteItems", []step{
		"before UpdateItem", "after UpdateItem", "before post", "after post", "before DeleteItem", "after DeleteItem",
	}}
}

// operation names the requests to DynamoDB.
func operation(r *http.Request) string {
	_, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return name
}

// dynamo is the tables of a stack.
type dynamo struct{ url, stack string }

func (d dynamo) call(ctx context.Context, t *testing.T, contentType, service, target, body string) []byte {
	t.Helper()

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20261129/"+emulator.Region+"/"+service+"/aws4_request, SignedHeaders=host, Signature=0")
	if target != "" {
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+target)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %s = %d, %v: %s", service, target, answer.StatusCode, err, text)
	}
	return text
}

// scan returns an attribute of all items of a table.
func (d dynamo) scan(ctx context.Context, t *testing.T, table, attribute string) []string {
	t.Helper()

	answer := d.call(ctx, t, "application/x-amz-json-1.0", "dynamodb", "Scan", fmt.Sprintf(`{"TableName": %q, "ConsistentRead": true}`, d.stack+"-"+table))
	var page struct {
		Items []map[string]map[string]string `json:"Items"` // attribute, type, value
	}
	if err := json.Unmarshal(answer, &page); err != nil {
		t.Fatal(err)
	}
	values := make([]string, len(page.Items))
	for i, item := range page.Items {
		values[i] = item[attribute]["S"]
	}
	slices.Sort(values)
	return values
}

func (d dynamo) orders(ctx context.Context, t *testing.T) []string {
	t.Helper()

	return d.scan(ctx, t, "orders", "id")
}

func (d dynamo) waiting(ctx context.Context, t *testing.T) []string {
	t.Helper()

	return d.scan(ctx, t, "outbox", "problem")
}

// receipts are what a receiver got and verified.
type receipts struct {
	url    string
	secret chan string // of the endpoint, which is known after the receiver's URL
	mu     sync.Mutex
	ids    map[string]map[string]bool // the event ids of each order
}

func newReceipts(t *testing.T) *receipts {
	t.Helper()

	r := &receipts{secret: make(chan string, 1), ids: make(map[string]map[string]bool)}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// ServeHTTP takes a request with a good signature.
func (r *receipts) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	secret := <-r.secret
	r.secret <- secret
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil || verifier.Verify(body, request.Header) != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	name, err := order(body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids[name] == nil {
		r.ids[name] = make(map[string]bool)
	}
	r.ids[name][request.Header.Get("Webhook-Id")] = true
	w.WriteHeader(http.StatusNoContent)
}

// orders returns the orders that arrived.
func (r *receipts) orders() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.ids))
}

// events returns the event ids of each order.
func (r *receipts) events() map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[string][]string)
	for order, ids := range r.ids {
		all[order] = slices.Sorted(maps.Keys(ids))
	}
	return all
}
