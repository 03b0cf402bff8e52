package smoke_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/internal/smoke"
)

// CloudFormation's documented limits, in bytes: for the code of a function in a
// template, and for a template that is not in a bucket.
const (
	maxInline   = 4096
	maxTemplate = 51_200
)

func TestTemplate_holdsTheReceiverWithinTheLimits(t *testing.T) {
	t.Parallel()

	text := smoke.Template()
	var template struct {
		Resources struct {
			Receiver struct {
				Properties struct {
					Code struct {
						ZipFile string `json:"ZipFile"`
					} `json:"Code"`
				} `json:"Properties"`
			} `json:"Receiver"`
		} `json:"Resources"`
	}
	if err := json.Unmarshal([]byte(text), &template); err != nil {
		t.Fatal(err)
	}
	code := template.Resources.Receiver.Properties.Code.ZipFile
	if code != smoke.ReceiverPython || len(code) > maxInline || len(text) > maxTemplate {
		t.Errorf("template of %d bytes with code of %d; want the receiver's code, at most %d and %d", len(text), len(code), maxTemplate, maxInline)
	}
}

// harness runs the receiver with a table in memory. It reads the code, the secret of
// the path /a and events from stdin, and writes the answers and the stored requests
// to stdout.
const harness = `
import json, sys, types

class Refused(Exception): pass

class Table:
    def __init__(self): self.items = {}
    meta = types.SimpleNamespace(client=types.SimpleNamespace(exceptions=types.SimpleNamespace(ConditionalCheckFailedException=Refused)))
    def update_item(self, Key, **kw):
        item = self.items.get((Key["path"], Key["at"]))
        if item is None or "answers" not in item: raise Refused()
        item["seen"] = item.get("seen", 0) + 1
        return {"Attributes": item}
    def put_item(self, Item): self.items[(Item["path"], Item["at"])] = Item

table = Table()
sys.modules["boto3"] = types.SimpleNamespace(resource=lambda name: types.SimpleNamespace(Table=lambda name: table))
import os
os.environ["TABLE"] = "t"
given = json.load(sys.stdin)
module = {}
exec(given["code"], module)
table.put_item({"path": "/a", "at": "script", "secret": given["secret"], "answers": [503, 200]})
results = [module["handler"](event, None) for event in given["events"]]
answers = [result["statusCode"] for result in results]
kept = [item for key, item in sorted(table.items.items()) if key[1] != "script"]
json.dump({"answers": answers, "last": results[-1].get("body"), "kept": kept}, sys.stdout)
`

// event is a request in the form that a function with a URL gets from Lambda.
type event struct {
	Path    string            `json:"rawPath"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Base64  bool              `json:"isBase64Encoded"`
}

// The receiver's code runs in Python. The public Standard Webhooks library signs the
// requests.
func TestReceiver_verifiesAndStoresRequests(t *testing.T) {
	t.Parallel()

	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed; make smoke ENV=local runs the receiver, too")
	}
	const secret, posted = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"name": "Zoë"}`
	signed := func(secret string, at time.Time) event {
		hook, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := hook.Sign("evt_1", at, []byte(posted))
		if err != nil {
			t.Fatal(err)
		}
		return event{Path: "/a", Body: posted, Headers: map[string]string{
			"webhook-id": "evt_1", "webhook-timestamp": strconv.FormatInt(at.Unix(), 10), "webhook-signature": "v1,bm9uZQ== " + signature,
		}}
	}
	now := time.Now()
	encoded, other, unsigned, tampered := signed(secret, now), signed(secret, now), signed(secret, now), signed(secret, now)
	encoded.Body, encoded.Base64 = base64.StdEncoding.EncodeToString([]byte(posted)), true
	other.Path, unsigned.Headers, tampered.Body = "/b", map[string]string{}, posted+" "
	challenge := event{
		Path: "/new", Body: `{"type":"webhook.challenge","timestamp":"2026-11-27T09:00:00Z","data":{"challenge":"C1"}}`,
		Headers: map[string]string{"x-webhook-event": "webhook.challenge"},
	}
	in := map[string]any{"code": smoke.ReceiverPython, "secret": secret, "events": []event{
		signed(secret, now), encoded, signed("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", now), signed(secret, now.Add(-time.Hour)), unsigned, tampered, other, challenge,
	}}
	var stdin, stdout, stderr bytes.Buffer
	if err := json.NewEncoder(&stdin).Encode(in); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", harness)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &stdin, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var out struct {
		Answers []int  `json:"answers"`
		Last    string `json:"last"`
		Kept    []struct {
			Verified bool   `json:"verified"`
			Status   int    `json:"status"`
			Body     string `json:"body"`
		} `json:"kept"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	want := []int{503, 200, 401, 401, 401, 401, 404, 200} // two by the script; a wrong secret, old, unsigned, tampered; no script; a challenge
	if !slices.Equal(out.Answers, want) {
		t.Errorf("answers = %v; want %v", out.Answers, want)
	}
	if want := `{"challenge": "C1"}`; out.Last != want {
		t.Errorf("answer to the challenge = %s; want %s", out.Last, want)
	}
	if len(out.Kept) != 6 {
		t.Fatalf("stored = %+v; want the six requests to the path", out.Kept)
	}
	for i, r := range out.Kept {
		if r.Verified != (i < 2) || r.Status != want[i] {
			t.Errorf("stored request %d = %+v; want status %d, and only the first two verified", i+1, r, want[i])
		}
	}
	if got := out.Kept[1].Body; got != posted {
		t.Errorf("stored body = %q; want the decoded %q", got, posted)
	}
}
