//go:build e2e

package localstack_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// TestNothingSecretIsLogged plants a canary, a unique word, in every secret or
// personal input. The test takes the canaries through successful, redirected
// and dead deliveries, both kinds of rotation, invalid requests and unknown
// keys. Afterwards no canary may be in the functions' logs or in the API's
// errors, and no secret in the table.
func TestNothingSecretIsLogged(t *testing.T) {
	t.Parallel()

	a := &aviary{bench: setup(t)}
	key := a.makeKey()
	a.openLink()
	delivered, dead := a.deliverAndDie()
	a.sendBadRequests(key)
	a.callWithUnknownKeys()

	logs := a.logs(delivered, dead)
	a.search("a line of the functions' logs", logs, a.everything())
	a.search("an error of the API", a.refusals, a.everything())
	a.search("an item of the table", a.table(), a.secrets())
}

// aviary is a bench with the canaries and the API's errors so far.
type aviary struct {
	*bench
	canaries []canary
	refusals []string // whole answers, headers included
	answers  []string // the kept answers without an error, headers included
}

// canary is a forbidden text and the place of its input.
type canary struct {
	place, text string
	secret      bool // forbidden in the table, too
}

// plant makes a canary for the place. Its letters and digits are the same in
// JSON, in a URL and in a header.
func (a *aviary) plant(place string) string {
	text := "canary" + rand.Text()
	a.watch(canary{place: place, text: text})
	return text
}

// plantSecret makes a canary that is forbidden in the table, too.
func (a *aviary) plantSecret(place string) string {
	text := "canary" + rand.Text()
	a.watch(canary{place: place, text: text, secret: true})
	return text
}

// watch adds a canary made elsewhere.
func (a *aviary) watch(c canary) { a.canaries = append(a.canaries, c) }

// watchKey adds an API key, with and without its prefix.
func (a *aviary) watchKey(place, key string) {
	a.Helper()
	random, ok := strings.CutPrefix(key, "shk_")
	if !ok {
		a.Fatalf("%s = %q; want shk_...", place, key)
	}
	a.watch(canary{place: place, text: random, secret: true})
}

// watchSecret adds a signing secret, in its encoded and its decoded form.
func (a *aviary) watchSecret(place, secret string) {
	a.Helper()
	encoded, _ := strings.CutPrefix(secret, "whsec_")
	opened, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(opened) < 24 {
		a.Fatalf("%s = %q; want whsec_ and the base64 of 24 bytes or more", place, secret)
	}
	a.watch(canary{place: place, text: encoded, secret: true})
	a.watch(canary{place: place + ", opened", text: string(opened), secret: true})
}

// ownSecret returns a signing secret with a canary as its bytes.
func (a *aviary) ownSecret(place string) string {
	secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte(a.plant(place)))
	a.watchSecret(place, secret)
	return secret
}

func (a *aviary) everything() []canary {
	return append([]canary{{place: "the admin key", text: strings.TrimPrefix(world.api.Key, "shk_"), secret: true}}, a.canaries...)
}

func (a *aviary) secrets() []canary {
	var all []canary
	for _, c := range a.everything() {
		if c.secret {
			all = append(all, c)
		}
	}
	return all
}

// search fails for each canary found in one of the texts, in any form.
func (a *aviary) search(what string, texts []string, canaries []canary) {
	a.Helper()
	if len(texts) == 0 {
		a.Errorf("there is no %s to search; want some", what)
	}
	for _, c := range canaries {
		for name, form := range forms(c.text) {
			for _, text := range texts {
				if strings.Contains(text, form) {
					a.Errorf("%s holds %s (%s): %.300q", what, c.place, name, text)
					break
				}
			}
		}
	}
}

// forms returns the possible forms of a text: unchanged, escaped character by
// character, and within a larger encoded text.
func forms(text string) map[string]string {
	all := map[string]string{
		"as it is":     text,
		"quoted":       strings.Trim(fmt.Sprintf("%q", text), `"`),
		"in a URL":     percent(text),
		"in JSON":      unicode(text),
		"in hex":       hex.EncodeToString([]byte(text)),
		"a byte slice": strings.Trim(fmt.Sprintf("%d", []byte(text)), "[]"),
	}
	for shift := range 3 { // the text's offset within a group of three bytes
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", shift) + text))
		whole := len(text) + shift - (len(text)+shift)%3 // the part independent of later bytes
		inner := encoded[(shift*8+5)/6 : whole/3*4]
		all[fmt.Sprintf("in base64 %d", shift)] = inner
		all[fmt.Sprintf("in base64 for URLs %d", shift)] = strings.NewReplacer("+", "-", "/", "_").Replace(inner)
	}
	return all
}

func percent(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func unicode(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return b.String()
}
