package sign_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
)

// A v1 secret and a v1a key pair from the tests and docs of other implementations:
// the libraries of Standard Webhooks and the Svix server.
const (
	knownSecret  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	knownPrivate = "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=="
	knownSeed    = "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc="
	knownPublic  = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="
)

func parse(tb testing.TB, text string) sign.Key {
	tb.Helper()

	k, err := sign.Parse(text)
	if err != nil {
		tb.Fatalf("Parse(%q) = %v; want no error", text, err)
	}
	return k
}

// bytesOf returns prefix and the base64 of n bytes.
func bytesOf(prefix string, n int) string {
	return prefix + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xab}, n))
}

func TestParse(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		text   string
		scheme hook.Scheme
		public string
	}{
		{name: "the secret of the specification's libraries", text: knownSecret, scheme: hook.SchemeV1, public: ""},
		{name: "the shortest secret", text: bytesOf("whsec_", 24), scheme: hook.SchemeV1, public: ""},
		{name: "the longest secret", text: bytesOf("whsec_", 64), scheme: hook.SchemeV1, public: ""},
		{name: "a secret with padding", text: bytesOf("whsec_", 32), scheme: hook.SchemeV1, public: ""},
		{name: "a private key of seed and public key", text: knownPrivate, scheme: hook.SchemeV1a, public: knownPublic},
		{name: "a private key of the seed alone", text: knownSeed, scheme: hook.SchemeV1a, public: knownPublic},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			k := parse(t, tt.text)
			if k.Scheme() != tt.scheme || k.Public() != tt.public {
				t.Errorf("Parse(%q) = scheme %v, public %q; want %v, %q", tt.text, k.Scheme(), k.Public(), tt.scheme, tt.public)
			}
		})
	}
}

func TestParse_invalid(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		text string
	}{
		{name: "empty", text: ""},
		{name: "no prefix", text: strings.TrimPrefix(knownSecret, "whsec_")},
		{name: "a prefix in capitals", text: strings.ToUpper(knownSecret[:6]) + knownSecret[6:]},
		{name: "a space in front", text: " " + knownSecret},
		{name: "a prefix alone", text: "whsec_"},
		{name: "a private prefix alone", text: "whsk_"},
		{name: "a public key does not sign", text: knownPublic},
		{name: "a secret a byte too short", text: bytesOf("whsec_", 23)},
		{name: "a secret a byte too long", text: bytesOf("whsec_", 65)},
		{name: "not base64", text: "whsec_" + strings.Repeat("*", 32)},
		{name: "base64 of the URL alphabet", text: "whsec_" + strings.Repeat("-_", 16)},
		{name: "base64 without its padding", text: strings.TrimRight(bytesOf("whsec_", 32), "=")},
		{name: "base64 with stray bits at the end", text: "whsec_" + strings.Repeat("A", 42) + "B="},
		{name: "a line break at the end", text: knownSecret + "\n"},
		{name: "a line break inside", text: knownSecret[:10] + "\r\n" + knownSecret[10:]},
		{name: "a private key of neither length", text: bytesOf("whsk_", 33)},
		{name: "a seed a byte too short", text: bytesOf("whsk_", 31)},
		{name: "a private key a byte too long", text: bytesOf("whsk_", 65)},
		{name: "a private key with a foreign public key", text: bytesOf("whsk_", 64)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, err := sign.Parse(tt.text)
			e, ok := errors.AsType[*hook.Error](err)
			if !ok || e.Code != hook.CodeInvalid || len(e.Fields) != 1 || e.Fields[0].Field != "secret" {
				t.Fatalf(`Parse(%q) = %v; want an invalid field "secret"`, tt.text, err)
			}
			if _, encoded, _ := strings.Cut(tt.text, "_"); encoded != "" && strings.Contains(err.Error(), encoded) {
				t.Errorf("Parse(%q) repeats the text: %v", tt.text, err)
			}
		})
	}
}

func TestNewSecret(t *testing.T) {
	t.Parallel()

	first, second := sign.NewSecret(), sign.NewSecret()
	if first == second {
		t.Errorf("NewSecret() = %q twice; want two secrets", first)
	}
	if k := parse(t, first); k.Scheme() != hook.SchemeV1 {
		t.Errorf("Parse(NewSecret()) has scheme %v; want v1", k.Scheme())
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(first, "whsec_"))
	if err != nil || len(raw) != 32 {
		t.Errorf("NewSecret() = %q: %d bytes, %v; want 32", first, len(raw), err)
	}
}

func TestNewKeyPair(t *testing.T) {
	t.Parallel()

	private, public := sign.NewKeyPair()
	if other, _ := sign.NewKeyPair(); other == private {
		t.Errorf("NewKeyPair() = %q twice; want two keys", private)
	}
	if k := parse(t, private); k.Scheme() != hook.SchemeV1a || k.Public() != public {
		t.Errorf("Parse(NewKeyPair()) has scheme %v, public %q; want v1a, %q", k.Scheme(), k.Public(), public)
	}
	if got, want := len(public), len(knownPublic); got != want || !strings.HasPrefix(public, "whpk_") {
		t.Errorf("NewKeyPair() has public key %q; want whpk_ and %d characters in all", public, want)
	}
}

// TestKey_redacted prints keys as a log or a debugger would, also inside an unexported field,
// where fmt cannot call their methods.
func TestKey_redacted(t *testing.T) {
	t.Parallel()

	for _, text := range []string{knownSecret, knownPrivate, knownSeed} {
		_, encoded, _ := strings.Cut(text, "_")
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatalf("decode %q: %v", text, err)
		}
		leaks := []string{
			encoded, string(raw), fmt.Sprintf("%x", raw[:8]), fmt.Sprintf("%X", raw[:8]),
			strings.Trim(fmt.Sprintf("%d", raw[:8]), "[]"), strings.Trim(fmt.Sprintf("%#v", raw[:8]), "[]byte{}"),
		}
		for how, out := range printed(t, parse(t, text)) {
			for _, leak := range leaks {
				if strings.Contains(out, leak) {
					t.Errorf("%s of Parse(%q) = %q; want no %q in it", how, text, out, leak)
				}
			}
		}
	}
}

func printed(t *testing.T, k sign.Key) map[string]string {
	t.Helper()

	type holder struct{ k sign.Key }
	out := map[string]string{"String": k.String(), "GoString": k.GoString(), "error": fmt.Errorf("sign with %v", k).Error()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%c", "%p"} {
		out[verb] = fmt.Sprintf(verb, k)
		out["pointer "+verb] = fmt.Sprintf(verb, &k)
		out["slice "+verb] = fmt.Sprintf(verb, []sign.Key{k})
		out["field "+verb] = fmt.Sprintf(verb, holder{k})
	}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(handler).Info("secret.opened", slog.Any("key", k), slog.Any("keys", []sign.Key{k}))
	}
	out["slog"] = log.String()
	encoded, err := json.Marshal([]sign.Key{k})
	if err != nil {
		t.Fatalf("marshal key: %v", err)
	}
	out["json"] = string(encoded)
	return out
}

func TestKey_String(t *testing.T) {
	t.Parallel()

	got := []string{
		parse(t, knownSecret).String(),
		fmt.Sprintf("%#v", parse(t, knownPrivate)),
		parse(t, knownSecret).LogValue().String(),
		sign.Key{}.String(),
	}
	want := []string{"[redacted v1 key]", "[redacted v1a key]", "[redacted v1 key]", "[redacted unknown key]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("printed keys differ (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "whsec_", "whsk_", knownSecret, knownPrivate, knownSeed, knownPublic, knownSecret + "\n",
		bytesOf("whsec_", 23), bytesOf("whsec_", 65), bytesOf("whsk_", 64), strings.TrimRight(knownSeed, "="),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := sign.Parse(text)
		if err != nil {
			if hook.CodeOf(err) != hook.CodeInvalid || k.Scheme() != 0 {
				t.Errorf("Parse(%q) = %v, %v; want the zero Key and an invalid field", text, k, err)
			}
			return
		}
		prefix, encoded, _ := strings.Cut(text, "_")
		raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil {
			t.Fatalf("Parse(%q) accepts invalid base64: %v", text, err)
		}
		m := sign.Message{ID: "msg_1", Body: raw}
		signature := sign.Standard([]sign.Key{k}, m)
		switch {
		case prefix == "whsec" && len(raw) >= 24 && len(raw) <= 64:
			if !strings.HasPrefix(signature, "v1,") || len(signature) != len("v1,")+44 {
				t.Errorf("Standard of Parse(%q) = %q; want v1 and 32 bytes", text, signature)
			}
		case prefix == "whsk" && (len(raw) == ed25519.SeedSize || len(raw) == ed25519.PrivateKeySize):
			verifyV1a(t, k.Public(), signature, m)
		default:
			t.Errorf("Parse(%q) = %v; want an error for %d bytes", text, k, len(raw))
		}
	})
}
