package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"surehook/internal/rule/sign"
)

// bareRate returns the signed POSTs per second of a loop without Surehook: an
// http.Client posts the payloads of the load to a receiver, on as many connections as
// the load.
func bareRate(ctx context.Context, duration time.Duration) (rate float64, err error) {
	key, err := sign.Parse(sign.NewSecret())
	if err != nil {
		return 0, fmt.Errorf("make a key: %w", err)
	}
	most := 200_000 * (int(duration.Seconds()/10) + 1)
	r, err := startSink(ctx, most, atOnce)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.stop()) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	begun := time.Now()
	var (
		lines  sync.WaitGroup
		faults = make([]error, connections)
	)
	for c := range connections {
		lines.Go(func() {
			for n := c; n < most && time.Since(begun) < duration && faults[c] == nil; n += connections {
				r.room <- struct{}{}
				faults[c] = barePost(ctx, client, r.url, key, n)
			}
		})
	}
	lines.Wait()
	return float64(r.count()) / time.Since(begun).Seconds(), errors.Join(faults...)
}

// barePost posts payload n with a signature.
func barePost(ctx context.Context, client *http.Client, url string, key sign.Key, n int) error {
	now, body, id := time.Now(), payloadOf(n), "evt_"+strconv.Itoa(n)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make a bare post: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	// The headers of a delivery: a share is of the same request.
	req.Header.Set("User-Agent", "Surehook/bench")
	req.Header.Set("X-Webhook-Event", "load.made")
	req.Header.Set("X-Webhook-Delivery", "dlv_7esq587grdgq1a74fmzr4eddmc_g9erm47fngq2q4y6_1")
	req.Header.Set("X-Webhook-Attempt", "1")
	req.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("Webhook-Signature", sign.Standard([]sign.Key{key}, sign.Message{ID: id, Timestamp: now, Body: body}))
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("post bare: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read to its end
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("post bare: %s %w", resp.Status, err)
	}
	return nil
}
