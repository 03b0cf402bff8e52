package client

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// withKeys gives every posted event without an idempotency key a random one, so that the repetitions
// of one call make one event. The JSON encoder removes white space from the payloads of a batch.
func withKeys(r *http.Request) (*http.Request, error) {
	batch := strings.HasSuffix(r.URL.Path, "/events/batch")
	if r.Method != http.MethodPost || !batch && (!strings.HasSuffix(r.URL.Path, "/events") || r.Header.Get("Idempotency-Key") != "") {
		return r, nil
	}
	raw, err := bodyOf(r)
	if err != nil {
		return nil, err
	}
	if batch {
		return batchWithKeys(r, raw), nil
	}
	var event struct {
		Key string `json:"idempotency_key"`
	}
	if json.Unmarshal(raw, &event) == nil && event.Key == "" {
		r = r.Clone(r.Context())
		r.Header.Set("Idempotency-Key", rand.Text())
	}
	return r, nil
}

// batchWithKeys leaves a body that is no batch to the API, which says what is wrong.
func batchWithKeys(r *http.Request, raw []byte) *http.Request {
	var batch map[string]json.RawMessage
	var events []map[string]json.RawMessage
	if json.Unmarshal(raw, &batch) != nil || json.Unmarshal(batch["events"], &events) != nil {
		return r
	}
	for _, e := range events {
		if key := string(e["idempotency_key"]); e != nil && (key == "" || key == `""`) {
			e["idempotency_key"], _ = json.Marshal(rand.Text()) //nolint:errchkjson // a text
		}
	}
	batch["events"], _ = json.Marshal(events) //nolint:errchkjson // what was JSON
	raw, _ = json.Marshal(batch)              //nolint:errchkjson // the same
	r = r.Clone(r.Context())
	r.ContentLength = int64(len(raw))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	return r
}

// dryRun reports whether the replay only counts deliveries.
func dryRun(r *http.Request) bool {
	var start struct {
		DryRun bool `json:"dry_run"`
	}
	raw, err := bodyOf(r)
	return err == nil && json.Unmarshal(raw, &start) == nil && start.DryRun
}

// bodyOf returns a copy of the body; none if the request cannot be sent twice.
func bodyOf(r *http.Request) ([]byte, error) {
	if r.GetBody == nil {
		return nil, nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	defer func() { _ = body.Close() }()
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	return raw, nil
}
