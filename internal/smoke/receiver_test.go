package smoke_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os/exec"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/internal/smoke"
)

// maxInline is CloudFormation's documented limit for a function's code in a
// template, and maxTemplate the limit of a template without a bucket, in bytes.
const (
	maxInline   = 4096
	maxTemplate = 51_200
)

func TestTemplate(t *testing.T) {
	t.Parallel()

	text, err := smoke.Template()
	if err != nil {
		t.Fatal(err)
	}
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

// harness runs the receiver with a table in memory: a script in, events in,
// answers and the kept requests out.
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
answers = [module["handler"](event, None)["statusCode"] for event in given["events"]]
kept = [item for key, item in sorted(table.items.items()) if key[1] != "script"]
json.dump({"answers": answers, "kept": kept}, sys.stdout)
`

// event is a request as Lambda hands the request to a function with a URL.
type event struct {
	Path    string            `json:"rawPath"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Base64  bool              `json:"isBase64Encoded"`
}

// TestReceiver runs the receiver's code in Python, with requests signed by the
// public Standard Webhooks library.
func TestReceiver(t *testing.T) {
	t.Parallel()

	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3; make smoke ENV=local runs the receiver too")
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
			"webhook-id": "evt_1", "webhook-timestamp": decimal(at.Unix()), "webhook-signature": "v1,bm9uZQ== " + signature,
		}}
	}
	now := time.Now()
	encoded, other, unsigned, tampered := signed(secret, now), signed(secret, now), signed(secret, now), signed(secret, now)
	encoded.Body, encoded.Base64 = base64.StdEncoding.EncodeToString([]byte(posted)), true
	other.Path, unsigned.Headers, tampered.Body = "/b", map[string]string{}, posted+" "
	in := map[string]any{"code": smoke.ReceiverPython, "secret": secret, "events": []event{
		signed(secret, now), encoded, signed("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", now), signed(secret, now.Add(-time.Hour)), unsigned, tampered, other,
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
		Answers []int `json:"answers"`
		Kept    []struct {
			Verified bool   `json:"verified"`
			Status   int    `json:"status"`
			Body     string `json:"body"`
		} `json:"kept"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	want := []int{503, 200, 401, 401, 401, 401, 404} // by the script; a wrong secret, old, unsigned, tampered; no script
	for i, status := range want {
		if i >= len(out.Answers) || out.Answers[i] != status {
			t.Errorf("answers = %v; want %v", out.Answers, want)
			break
		}
	}
	if len(out.Kept) != 6 || !out.Kept[0].Verified || !out.Kept[1].Verified || out.Kept[1].Body != posted || out.Kept[2].Verified {
		t.Errorf("kept = %+v; want the six requests to the path, and only the first two verified", out.Kept)
	}
}

func decimal(n int64) string {
	return strconv.FormatInt(n, 10)
}
