package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"surehook.example/surehook/localstack/emulator"
)

// errServer marks an answer of 5xx.
var errServer = errors.New("a mistake of the emulator")

// Action calls a JSON action of an emulator's service that reads. The target
// names the action, such as "Logs_20140328.DescribeLogGroups". Action decodes
// the answer into out.
//
// Action calls up to five times while the answer is 5xx, as an SDK would:
// MiniStack answers DescribeLogGroups with 500 if a function makes its log
// group meanwhile.
func (s *Stack) Action(ctx context.Context, service, target string, in, out any) error {
	header := http.Header{"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {target}}
	answer, err := backoff.Retry(ctx, func() ([]byte, error) {
		answer, err := s.request(ctx, service, "/", header, in)
		if err != nil && !errors.Is(err, errServer) {
			return nil, backoff.Permanent(err)
		}
		return answer, err
	}, backoff.WithMaxTries(5))
	if err != nil {
		return fmt.Errorf("call %s: %w", target, err)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("call %s: read the answer: %w", target, err)
	}
	return nil
}

// Invoke calls a function of the stack, such as "breaker", with the event and
// waits for the function's end.
func (s *Stack) Invoke(ctx context.Context, function string, event any) error {
	if _, err := s.request(ctx, "lambda", "/2015-03-31/functions/"+Name+"-"+function+"/invocations", nil, event); err != nil {
		return fmt.Errorf("invoke %s: %w", function, err)
	}
	return nil
}

// request posts to a service of the emulator. Emulators ignore the signature
// and read only the region and the service.
func (s *Stack) request(ctx context.Context, service, path string, header http.Header, in any) (answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Address+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=test/%s/%s/%s/aws4_request, SignedHeaders=host, Signature=none",
		time.Now().UTC().Format("20060102"), emulator.Region, service))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("reach the emulator: %w", err)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode >= http.StatusInternalServerError {
		return nil, fmt.Errorf("%w: the answer is %s: %.300s", errServer, resp.Status, answer)
	}
	if failed := resp.Header.Get("X-Amz-Function-Error"); resp.StatusCode != http.StatusOK || failed != "" {
		return nil, fmt.Errorf("the answer is %s %s: %.300s", resp.Status, failed, answer)
	}
	return answer, nil
}
