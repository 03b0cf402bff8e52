package sqs_test

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/hook"
)

const (
	liveURL     = "https://sqs.us-east-1.amazonaws.com/123456789012/live"
	retryURL    = "https://sqs.us-east-1.amazonaws.com/123456789012/retry"
	replayURL   = "https://sqs.us-east-1.amazonaws.com/123456789012/replay"
	slotURL     = "https://sqs.us-east-1.amazonaws.com/123456789012/slot"
	overflowURL = "https://sqs.us-east-1.amazonaws.com/123456789012/overflow"
	coalesceURL = "https://sqs.us-east-1.amazonaws.com/123456789012/coalesce"
	deadURL     = "https://sqs.us-east-1.amazonaws.com/123456789012/dead-letters"
)

// request is a request of the SDK, of any operation.
type request struct {
	QueueURL       string  `json:"QueueUrl"`
	MessageBody    string  `json:"MessageBody"`
	MessageGroupID string  `json:"MessageGroupId"`
	DelaySeconds   int     `json:"DelaySeconds"`
	Entries        []entry `json:"Entries"`

	MaxNumberOfMessages int      `json:"MaxNumberOfMessages"`
	VisibilityTimeout   int      `json:"VisibilityTimeout"`
	WaitTimeSeconds     int      `json:"WaitTimeSeconds"`
	AttributeNames      []string `json:"AttributeNames"`
}

type entry struct {
	ID             string `json:"Id"`
	MessageBody    string `json:"MessageBody"`
	MessageGroupID string `json:"MessageGroupId"`
	DelaySeconds   int    `json:"DelaySeconds"`
	ReceiptHandle  string `json:"ReceiptHandle"`

	VisibilityTimeout int `json:"VisibilityTimeout"`
}

type failure struct {
	ID          string `json:"Id"`
	Code        string `json:"Code"`
	Message     string `json:"Message"`
	SenderFault bool   `json:"SenderFault"`
}

// fakeSQS answers the SDK. refuse returns an error code for the n-th try of an
// entry, or "" for success.
type fakeSQS struct {
	refuse func(body string, n int) (code string, senderFault bool)
	status int                  // of every answer; 0: success
	code   string               // error code of status
	answer func(in request) any // replaces the answer to a send; may be nil

	mu       sync.Mutex
	requests []request
	targets  []string
	seen     map[string]int
}

func (f *fakeSQS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()

	var in request
	_ = json.NewDecoder(r.Body).Decode(&in)
	f.requests = append(f.requests, in)
	f.targets = append(f.targets, r.Header.Get("X-Amz-Target"))
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if f.status != 0 {
		w.WriteHeader(f.status)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": "com.amazonaws.sqs#" + f.code, "message": "no"})
		return
	}
	if f.answer != nil {
		_ = json.NewEncoder(w).Encode(f.answer(in))
		return
	}
	if len(in.Entries) == 0 {
		_ = json.NewEncoder(w).Encode(map[string]string{"MessageId": "m", "MD5OfMessageBody": sum(in.MessageBody)})
		return
	}
	var out struct {
		Successful []map[string]string `json:"Successful"`
		Failed     []failure           `json:"Failed"`
	}
	for _, e := range in.Entries {
		f.seen[e.MessageBody]++
		code, senderFault := f.refuse(e.MessageBody, f.seen[e.MessageBody])
		switch code {
		case "":
			out.Successful = append(out.Successful, map[string]string{"Id": e.ID, "MessageId": "m", "MD5OfMessageBody": sum(e.MessageBody)})
		case "forgotten": // missing from both lists of the answer
		default:
			out.Failed = append(out.Failed, failure{ID: e.ID, Code: code, Message: "no", SenderFault: senderFault})
		}
	}
	_ = json.NewEncoder(w).Encode(out)
}

func sum(s string) string {
	digest := md5.Sum([]byte(s))
	return hex.EncodeToString(digest[:])
}

type bundle struct {
	queue       *sqs.TaskQueues
	deadLetters *sqs.DeadLetters
	fake        *fakeSQS
	waits       *[]time.Duration
}

// setup returns queues on a fake without failures. Waits are recorded and take no
// time.
func setup(t *testing.T) bundle {
	t.Helper()

	fake := &fakeSQS{seen: map[string]int{}, refuse: func(string, int) (string, bool) { return "", false }}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)

	q := sqs.New(configOf(server), sqs.URLs{hook.QueueLive: liveURL, hook.QueueRetry: retryURL, hook.QueueReplay: replayURL, hook.QueueSlot: slotURL, hook.QueueOverflow: overflowURL, hook.QueueCoalesce: coalesceURL})

	var mu sync.Mutex
	var waits []time.Duration
	q.Rand = func() float64 { return 0.5 }
	q.Wait = func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		waits = append(waits, d)
		return ctx.Err()
	}
	return bundle{queue: q, deadLetters: sqs.NewDeadLetters(configOf(server), deadURL), fake: fake, waits: &waits}
}

// configOf returns a configuration for the server, without retries.
func configOf(server *httptest.Server) aws.Config {
	return aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
		BaseEndpoint: aws.String(server.URL),
		HTTPClient:   server.Client(),
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	}
}

func tasks(t *testing.T, n int) []hook.Task {
	t.Helper()

	var tasks []hook.Task
	for range n {
		event := hook.NewEventID()
		tasks = append(tasks, hook.NewTask("acme", hook.DeliveryRef{DeliveryID: hook.DeliveryID{Event: event, Endpoint: hook.NewEndpointID(), Generation: 1}, AcceptedAt: 1}, 1))
	}
	return tasks
}

func encode(t *testing.T, task hook.Task) string {
	t.Helper()

	body, err := task.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return body
}
