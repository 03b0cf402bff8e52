package strict_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/localstack/tools/iam"
	"surehook.example/surehook/localstack/tools/strict"
)

// noon is the front's time in tests.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// upstream replaces the emulator. It describes the table "t" and accepts every
// other request.
type upstream struct {
	mu       sync.Mutex
	requests []string // method, target and body, without descriptions of tables
	hosts    []string

	forwarded []string // X-Forwarded-For
	tls       []string // X-Forwarded-Proto
	signed    []string // key and session token
	status    int      // of the answers; 0: 200
}

const described = `{"Table": {
	"KeySchema": [{"AttributeName": "sk", "KeyType": "RANGE"}, {"AttributeName": "pk", "KeyType": "HASH"}],
	"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "S"}, {"AttributeName": "state", "AttributeType": "S"}],
	"GlobalSecondaryIndexes": [{"IndexName": "by_state", "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}]}]
}}`

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".DescribeTable") {
		if strings.Contains(string(body), `"t"`) {
			_, _ = io.WriteString(w, described)
			return
		}
		http.Error(w, `{"__type": "ResourceNotFoundException"}`, http.StatusBadRequest)
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.requests = append(u.requests, r.Method+" "+r.RequestURI+" "+string(body))
	u.forwarded = append(u.forwarded, r.Header.Get("X-Forwarded-For"))
	u.hosts = append(u.hosts, r.Host)
	u.tls = append(u.tls, r.Header.Get("X-Forwarded-Proto"))
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	key, _, _ := strings.Cut(credential, "/")
	u.signed = append(u.signed, key+" "+r.Header.Get("X-Amz-Security-Token"))
	if u.status != 0 {
		w.WriteHeader(u.status)
	}
	_, _ = io.WriteString(w, "{}")
}

func (u *upstream) taken() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string(nil), u.requests...)
}

// bundle is a front before an upstream.
type bundle struct {
	*strict.Front

	upstream *upstream
	log      *bytes.Buffer
	now      *time.Time // set it before the requests
	key      string     // signs the requests
}

func setup(t *testing.T) bundle {
	t.Helper()
	return setupRole(t, nil)
}

// setupRole returns a front whose requests are those of the role.
func setupRole(t *testing.T, role *iam.Role) bundle {
	t.Helper()

	rules, err := strict.Load(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	b := bundle{upstream: &upstream{}, log: &bytes.Buffer{}, now: new(time.Time), key: "test"}
	options := strict.Options{Rules: rules, Log: b.log, Now: func() time.Time { return *b.now }}
	if role != nil {
		b.key = "ASIAROLE"
		options.Role = func(ctx context.Context, key, region string) (*iam.Role, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if key != b.key || region != "us-east-1" {
				return nil, fmt.Errorf("the role of key %q in %q was asked for", key, region)
			}
			return role, nil
		}
	}
	*b.now = noon
	server := httptest.NewServer(b.upstream)
	t.Cleanup(server.Close)
	options.Upstream = server.URL
	b.Front, err = strict.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Stop() }) // tests read the violations before
	return b
}

// answer is the front's answer.
type answer struct {
	status int
	header http.Header
	body   string
}

func targets() map[string]string {
	return map[string]string{"dynamodb": "DynamoDB_20120810", "kms": "TrentService", "secretsmanager": "secretsmanager", "sqs": "AmazonSQS"}
}

// call calls an operation of a service. The input of SNS is a form. Operations
// of the scheduler are a method and a path.
func (b bundle) call(t *testing.T, service, operation string, input map[string]any) answer {
	t.Helper()

	method, path, header := http.MethodPost, "/", http.Header{}
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	switch service {
	case "sns", "sts":
		form := url.Values{"Action": {operation}, "Version": {"2010-03-31"}}
		for name, value := range input {
			form.Set(name, fmt.Sprint(value))
		}
		raw = []byte(form.Encode())
	case "scheduler":
		method, path, _ = strings.Cut(operation, " ")
		if input == nil {
			raw = nil
		}
	default:
		header.Set("X-Amz-Target", targets()[service]+"."+operation)
	}
	return b.send(t, service, method, path, header, raw)
}

func (b bundle) send(t *testing.T, service, method, path string, header http.Header, body []byte) answer {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), method, b.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	if b.key != "test" {
		r.Header.Set("X-Amz-Security-Token", "session")
	}
	if service != "" {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+b.key+"/20261122/us-east-1/"+service+"/aws4_request, SignedHeaders=host, Signature=none")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// code is the error code of the answer, as each protocol carries it.
func (a answer) code() string {
	if a.status == http.StatusOK {
		return ""
	}
	if code := a.header.Get("X-Amzn-ErrorType"); code != "" {
		return code
	}
	if _, rest, found := strings.Cut(a.body, "<Code>"); found {
		code, _, _ := strings.Cut(rest, "<")
		return code
	}
	var fault struct {
		Type string `json:"__type"`
	}
	_ = json.Unmarshal([]byte(a.body), &fault)
	return fault.Type
}

// rule is a request and the code of the refusal; empty: accepted.
type rule struct {
	name      string
	operation string
	input     map[string]any
	want      string
}

// hold checks that the front refuses or accepts each request, forwards the
// accepted ones alone, and records the refused ones.
func hold(t *testing.T, service string, rules []rule) {
	t.Helper()

	for _, tt := range rules {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			got := b.call(t, service, tt.operation, tt.input)
			if got.code() != tt.want {
				t.Fatalf("%s is answered %d %.300s; want code %q", tt.operation, got.status, got.body, tt.want)
			}
			if forwarded := len(b.upstream.taken()); (forwarded == 1) != (tt.want == "") {
				t.Errorf("%d requests were forwarded; want one if accepted, else none", forwarded)
			}
			violations := b.Violations()
			if tt.want == "" && len(violations) != 0 || tt.want != "" && (len(violations) != 1 || violations[0].Code != tt.want) {
				t.Errorf("violations = %v; want %q alone", violations, tt.want)
			}
		})
	}
}

type in = map[string]any

func with(base in, name string, value any) in {
	more := in{}
	for k, v := range base {
		more[k] = v
	}
	if value == nil {
		delete(more, name)
	} else {
		more[name] = value
	}
	return more
}

func text(n int) string { return strings.Repeat("x", n) }

func blob(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }

func repeat[T any](n int, one func(i int) T) []T {
	var all []T
	for i := range n {
		all = append(all, one(i))
	}
	return all
}

func TestFront_forwardsOtherRequestsUnchanged(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, service := range []string{"", "s3", "cloudformation"} {
		if got := b.send(t, service, http.MethodPut, "/any%2Fpath?limit=%zz;a", http.Header{"X-Forwarded-For": {"203.0.113.1"}}, []byte("bytes")); got.status != http.StatusOK {
			t.Errorf("a request of service %q is answered %d; want 200", service, got.status)
		}
	}
	got := b.upstream.taken()
	if len(got) != 3 || got[0] != "PUT /any%2Fpath?limit=%zz;a bytes" || b.upstream.forwarded[0] != "203.0.113.1" {
		t.Errorf("forwarded = %q with X-Forwarded-For %q; want three requests as sent", got, b.upstream.forwarded)
	}
	if want := strings.TrimPrefix(b.URL, "http://"); b.upstream.hosts[0] != want {
		t.Errorf("Host = %q; want the client's %q", b.upstream.hosts[0], want)
	}
	if err := b.Stop(); err != nil {
		t.Errorf("Stop() = %v; want nil without violations", err)
	}
}

func TestFront_failsARunWithViolations(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for range 2 {
		b.call(t, "sqs", "SendMessage", in{"QueueUrl": queue, "MessageBody": "x", "DelaySeconds": 1000})
	}
	err := b.Stop()
	if err == nil || !strings.Contains(err.Error(), "sqs SendMessage: InvalidParameterValue") || !strings.Contains(err.Error(), "requests: 2") {
		t.Errorf("Stop() = %v; want the violation with two requests", err)
	}
	if lines := strings.Count(b.log.String(), "\n"); lines != 2 {
		t.Errorf("the log has %d lines; want one per request", lines)
	}
}

func TestLoad_saysWhatIsMissing(t *testing.T) {
	t.Parallel()

	_, err := strict.Load(os.DirFS(t.TempDir()))
	if err == nil || !strings.Contains(err.Error(), "read the model of dynamodb") {
		t.Errorf("Load of an empty folder = %v; want an error that names the model", err)
	}
}
