package sign_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
)

// known returns the message of the known-answer tests in the specification's libraries.
func known() sign.Message {
	return sign.Message{
		ID:        "msg_p5jXN8AQM9LWM0D4loKWxJek",
		Timestamp: time.Unix(1614265330, 0),
		Body:      []byte(`{"test": 2432232314}`),
	}
}

const (
	knownV1  = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	knownV1a = "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=="
)

func TestStandard_hasOneEntryPerKeyInOrder(t *testing.T) {
	t.Parallel()

	const otherSecret = "whsec_QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="
	other := sign.Standard([]sign.Key{parse(t, otherSecret)}, known())
	tests := []struct {
		name string
		keys []sign.Key
		want string
	}{
		{name: "v1", keys: []sign.Key{parse(t, knownSecret)}, want: knownV1},
		{name: "v1a", keys: []sign.Key{parse(t, knownPrivate)}, want: knownV1a},
		{name: "v1a from the seed alone", keys: []sign.Key{parse(t, knownSeed)}, want: knownV1a},
		{name: "two schemes, in the order of the keys", keys: []sign.Key{parse(t, knownPrivate), parse(t, knownSecret)}, want: knownV1a + " " + knownV1},
		{name: "two secrets, in the order of the keys", keys: []sign.Key{parse(t, otherSecret), parse(t, knownSecret)}, want: other + " " + knownV1},
		{name: "no key, no signature", keys: nil, want: ""},
		{name: "the zero key signs nothing", keys: []sign.Key{{}, parse(t, knownSecret), {}}, want: knownV1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := sign.Standard(tt.keys, known()); got != tt.want {
				t.Errorf("Standard(%v) = %q; want %q", tt.keys, got, tt.want)
			}
		})
	}
}

func TestStandard_timestampIsWholeSecondsInAnyZone(t *testing.T) {
	t.Parallel()

	m := known()
	m.Timestamp = m.Timestamp.Add(999 * time.Millisecond).In(time.FixedZone("east", 3600))
	if got := sign.Standard([]sign.Key{parse(t, knownSecret)}, m); got != knownV1 {
		t.Errorf("Standard at %v = %q; want %q", m.Timestamp, got, knownV1)
	}
}

// The public library verifies for receivers with the old secret, the new secret, or neither.
func TestStandard_verifiesDuringARotation(t *testing.T) {
	t.Parallel()

	old, fresh := sign.NewSecret(), sign.NewSecret()
	private, _ := sign.NewKeyPair()
	m := sign.Message{ID: "evt_1", Timestamp: time.Now(), Body: []byte(`{"amount":4200}`)}
	signature := sign.Standard([]sign.Key{parse(t, fresh), parse(t, private), parse(t, old)}, m)

	tampered := m
	tampered.Body = []byte(`{"amount":4201}`)
	renamed := m
	renamed.ID = "evt_2"
	tests := []struct {
		name    string
		secret  string
		message sign.Message
		want    bool
	}{
		{name: "a receiver with the new secret accepts", secret: fresh, message: m, want: true},
		{name: "a receiver with the old secret accepts", secret: old, message: m, want: true},
		{name: "a receiver with another secret refuses", secret: sign.NewSecret(), message: m, want: false},
		{name: "a changed body is refused", secret: fresh, message: tampered, want: false},
		{name: "a changed id is refused", secret: fresh, message: renamed, want: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			receiver, err := standardwebhooks.NewWebhook(tt.secret)
			if err != nil {
				t.Fatalf("NewWebhook(%q) = %v; want no error", tt.secret, err)
			}
			headers := http.Header{}
			headers.Set("webhook-id", tt.message.ID)
			headers.Set("webhook-timestamp", strconv.FormatInt(tt.message.Timestamp.Unix(), 10))
			headers.Set("webhook-signature", signature)
			if err := receiver.Verify(tt.message.Body, headers); (err == nil) != tt.want {
				t.Errorf("Verify(%q) = %v; want accepted: %t", signature, err, tt.want)
			}
		})
	}
}

func TestStandard_v1aVerifiesUnderThePublicKey(t *testing.T) {
	t.Parallel()

	private, public := sign.NewKeyPair()
	for _, body := range []string{"", "{}", strings.Repeat("x", hook.MaxPayload)} {
		m := sign.Message{ID: "evt_1", Timestamp: time.Unix(1_800_000_000, 0), Body: []byte(body)}
		verifyV1a(t, public, sign.Standard([]sign.Key{parse(t, private)}, m), m)
	}
}

// verifyV1a verifies an asymmetric signature as a receiver does.
func verifyV1a(t *testing.T, public, signature string, m sign.Message) {
	t.Helper()

	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(public, "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		t.Fatalf("public key %q has %d bytes, %v; want %d", public, len(key), err, ed25519.PublicKeySize)
	}
	encoded, ok := strings.CutPrefix(signature, "v1a,")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		t.Fatalf("signature %q: %v; want v1a and base64", signature, err)
	}
	content := fmt.Sprintf("%s.%d.%s", m.ID, m.Timestamp.Unix(), m.Body)
	if !ed25519.Verify(key, []byte(content), raw) {
		t.Errorf("signature %q of %.60q does not verify under %s", signature, content, public)
	}
}

func BenchmarkStandard(b *testing.B) {
	for _, text := range []string{knownSecret, knownPrivate} {
		k := parse(b, text)
		for _, size := range []int{1 << 10, hook.MaxPayload} {
			m := sign.Message{ID: "evt_1", Timestamp: time.Unix(1614265330, 0), Body: bytes.Repeat([]byte("x"), size)}
			b.Run(fmt.Sprintf("%s/%dB", k.Scheme(), size), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					sign.Standard([]sign.Key{k}, m)
				}
			})
		}
	}
}

func ExampleStandard() {
	key, err := sign.Parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sign.Standard([]sign.Key{key}, sign.Message{
		ID:        "msg_p5jXN8AQM9LWM0D4loKWxJek",
		Timestamp: time.Unix(1614265330, 0),
		Body:      []byte(`{"test": 2432232314}`),
	}))
	// Output: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
}
