package sign_test

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
)

var update = flag.Bool("update", false, "write testdata/profiles.json")

// vector is a request with the headers of a profile. The vendors' libraries verify the same file:
// see examples/profiles.
type vector struct {
	Profile string            `json:"profile"`
	Secrets []string          `json:"secrets"` // newest first
	URL     string            `json:"url"`
	Time    int64             `json:"time"` // in seconds since 1970
	Body    string            `json:"body"`
	Headers map[string]string `json:"headers"`
}

func vectors(t *testing.T) []vector {
	t.Helper()

	const oldest = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	var all []vector
	for _, name := range slices.Sorted(maps.Keys(sign.Profiles())) {
		for _, secrets := range [][]string{{oldest}, {"text:an-old-secret-of-another-system"}, {knownSecret, oldest}} {
			v := vector{
				Profile: name, Secrets: secrets, URL: "https://example.com/hooks", Time: 1795000000,
				Body: "{\"b\" : 1.0,\n \"a\":\"\\u00e9 é\"}\n", Headers: make(map[string]string),
			}
			var keys []sign.Key
			for _, text := range secrets {
				keys = append(keys, parse(t, text))
			}
			sign.Headers(hook.ProfilesNamed(name), keys, sign.Request{
				ID: "evt_01h455vb4pex5vsknk084sn02q", Type: "order.paid", Delivery: "dlv_1", Timestamp: time.Unix(v.Time, 5e8), URL: v.URL, Body: []byte(v.Body),
			}, func(name, value string) { v.Headers[name] = value })
			all = append(all, v)
		}
	}
	return all
}

func TestHeaders_vectors(t *testing.T) {
	t.Parallel()

	const path = "testdata/profiles.json"
	got := vectors(t)
	if *update {
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []vector
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the requests differ from %s; if they shall, run go test ./internal/rule/sign -args -update (-want +got):\n%s", path, diff)
	}
}

func TestProfiles_check(t *testing.T) {
	t.Parallel()

	for name, p := range sign.Profiles() {
		p.Name = name
		wrong, warnings := p.Check("profile")
		if len(wrong) > 0 || (len(warnings) == 0) != strings.Contains(p.Signed, hook.PlaceTimestamp) {
			t.Errorf("Check(%s) = %v, %v", name, wrong, warnings)
		}
	}
}

func TestHeaders_own(t *testing.T) {
	t.Parallel()

	own := hook.SignatureProfile{
		Name: "own", Signed: "{method} {url}\n{id}.{timestamp}\n{body}\nend", Algorithm: "sha512", Encoding: "base64", Key: "text", Prefix: "s=", Separator: "; ",
		Headers: map[string]string{
			"X-Sign": "at {timestamp} {signature}", "X-Id": "{id}", "X-Type": "{type}", "X-Key": "{idempotency_key}", "X-Delivery": "{delivery}",
		},
	}
	if wrong, warnings := own.Check("own"); len(wrong) > 0 || len(warnings) > 0 {
		t.Fatalf("Check() = %v, %v", wrong, warnings)
	}
	private, _ := sign.NewKeyPair()
	keys := []sign.Key{parse(t, private), parse(t, "text:aaaaaaaaaaaaaaaa"), parse(t, "text:bbbbbbbbbbbbbbbb")}
	r := sign.Request{ID: "evt_1", Type: "a.b", IdempotencyKey: "k", Delivery: "dlv_1", Timestamp: time.Unix(7, 0), URL: "https://example.com/", Body: []byte("{body}{id}")}
	got := make(map[string]string)
	sign.Headers([]hook.SignatureProfile{own}, keys, r, func(name, value string) { got[name] = value })
	// openssl dgst -sha512 -hmac aaaaaaaaaaaaaaaa -binary | base64, of the text below.
	const text = "POST https://example.com/\nevt_1.7\n{body}{id}\nend"
	want := map[string]string{
		"X-Sign": "at 7 s=" + hmacSHA512("aaaaaaaaaaaaaaaa", text) + "; s=" + hmacSHA512("bbbbbbbbbbbbbbbb", text),
		"X-Id":   "evt_1", "X-Type": "a.b", "X-Key": "k", "X-Delivery": "dlv_1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Headers() (-want +got):\n%s", diff)
	}
}

func hmacSHA512(key, text string) string {
	mac := hmac.New(sha512.New, []byte(key))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestCheckProfiles(t *testing.T) {
	t.Parallel()

	check := func(profiles ...hook.SignatureProfile) []hook.FieldError {
		return sign.CheckProfiles(&hook.Endpoint{Profiles: profiles})
	}
	own := hook.SignatureProfile{Name: "own", Signed: "{body}", Headers: map[string]string{"x-webhook-id": "{id}"}}
	if wrong := check(append(hook.ProfilesNamed(hook.ProfileClassic), own)...); len(wrong) != 1 || !strings.Contains(wrong[0].Message, "x-webhook-id") {
		t.Errorf("CheckProfiles() = %v; want a header in both", wrong)
	}
	own.Headers = map[string]string{"Webhook-Signature": "{signature}"}
	if wrong := check(append(hook.ProfilesNamed(hook.ProfileStandard), own)...); len(wrong) != 1 {
		t.Errorf("CheckProfiles() = %v; want a header of standard in both", wrong)
	}
	for name := range sign.Profiles() {
		if wrong := check(hook.ProfilesNamed(hook.ProfileStandard, name)...); len(wrong) > 0 {
			t.Errorf("CheckProfiles(standard, %s) = %v", name, wrong)
		}
	}
}

func TestCheckProfiles_ownHeaders(t *testing.T) {
	t.Parallel()

	e := hook.Endpoint{
		Profiles: hook.ProfilesNamed("github", "slack"),
		Headers:  map[string]string{"x_hub_signature_256": "a"}, SealedHeaders: map[string][]byte{"X-Slack-Signature": {1}, "X-Other": {1}},
	}
	var fields []string
	for _, wrong := range sign.CheckProfiles(&e) {
		fields = append(fields, wrong.Field)
	}
	if diff := cmp.Diff([]string{"headers.X-Slack-Signature", "headers.x_hub_signature_256"}, fields); diff != "" {
		t.Errorf("CheckProfiles() (-want +got):\n%s", diff)
	}
}

// FuzzProfile looks for definitions that pass Check but make a header that HTTP cannot carry, or
// fill in what they should not.
func FuzzProfile(f *testing.F) {
	f.Add("{timestamp}.{body}", "t={timestamp},{signature}", "v1=", ",", "{id}")
	f.Add("{body}", "{signature}{type}", "{id}", "{body}", "{signature}")
	f.Fuzz(func(t *testing.T, signed, header, prefix, separator, id string) {
		p := hook.SignatureProfile{
			Name: "own", Signed: signed, Algorithm: "sha256", Encoding: "hex", Key: "text", Prefix: prefix, Separator: separator,
			Headers: map[string]string{"X-Sign": header, "X-Id": id},
		}
		if wrong, _ := p.Check("p"); len(wrong) > 0 {
			return
		}
		r := sign.Request{ID: "evt_1", Type: "{signature}", Delivery: "dlv_1", Timestamp: time.Unix(7, 0), Body: []byte("{}")}
		sign.Headers([]hook.SignatureProfile{p}, []sign.Key{parse(t, knownSecret)}, r, func(name, value string) {
			if value == "" || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("header %s is %q", name, value)
			}
		})
	})
}
