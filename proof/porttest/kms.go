package porttest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// KeyARN names a KMS key.
const KeyARN = "arn:aws:kms:us-east-1:123456789012:key/3ee50705-5a82-4f5b-9753-05c4f473922f"

// PlainKMS returns the configuration of a KMS whose ciphertext is the plaintext, and the number of
// its requests.
func PlainKMS(t *testing.T) (aws.Config, *atomic.Int64) {
	t.Helper()

	requests := new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		var in struct {
			Plaintext      []byte `json:"Plaintext"`
			CiphertextBlob []byte `json:"CiphertextBlob"`
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_ = json.NewEncoder(w).Encode(map[string]any{"KeyId": KeyARN, "Plaintext": in.CiphertextBlob, "CiphertextBlob": in.Plaintext})
	}))
	t.Cleanup(server.Close)
	return aws.Config{
		Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), HTTPClient: server.Client(),
	}, requests
}
