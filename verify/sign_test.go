package verify_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// What a sender has: secrets, and key pairs from a seed.
const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	other  = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

func keyPair(seed byte) (private ed25519.PrivateKey, public string) {
	private = ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	return private, "whpk_" + base64.StdEncoding.EncodeToString(private[ed25519.SeedSize:])
}

// signed returns the headers of a request with a signature per key: a secret or a private key.
func signed(at time.Time, body string, keys ...any) http.Header {
	seconds := strconv.FormatInt(at.Unix(), 10)
	content := []byte("evt_1." + seconds + "." + body)
	var signatures []string
	for _, key := range keys {
		switch k := key.(type) {
		case string:
			raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(k, "whsec_"))
			mac := hmac.New(sha256.New, raw)
			_, _ = mac.Write(content)
			signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		case ed25519.PrivateKey:
			signatures = append(signatures, "v1a,"+base64.StdEncoding.EncodeToString(ed25519.Sign(k, content)))
		}
	}
	return http.Header{"Webhook-Id": {"evt_1"}, "Webhook-Timestamp": {seconds}, "Webhook-Signature": {strings.Join(signatures, " ")}}
}
