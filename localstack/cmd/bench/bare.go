package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/sign"
	"surehook.example/surehook/localstack/cmd/bench/usage"
)

// authority issues the certificates of the servers: P-256, signed by a root, as public ones are
// at their shortest.
type authority struct {
	file        string // of the root
	certificate tls.Certificate
}

// newAuthority writes the root to the file.
func newAuthority(file string) (*authority, error) {
	a := &authority{file: file}
	keys := [2]*ecdsa.PrivateKey{}
	for i := range keys {
		var err error
		if keys[i], err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, fmt.Errorf("make a key: %w", err)
		}
	}
	from, until := time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: from, NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, root, root, keys[0].Public(), keys[0])
	if err == nil {
		err = os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("make an authority: %w", err)
	}
	der, err = x509.CreateCertificate(rand.Reader, leaf, root, keys[1].Public(), keys[0])
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	a.certificate = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: keys[1]}
	return a, nil
}

// env makes a process with package usage trust the authority.
func (a *authority) env() []string {
	return []string{usage.EnvRoots + "=" + a.file, "GODEBUG=x509usefallbackroots=1"}
}

// serve starts a server for https.
func (a *authority) serve(h http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{a.certificate}}
	s.StartTLS()
	return s
}

// receiver answers 200 at once, and counts.
type receiver struct {
	url    string
	env    []string    // of processes that trust it
	closes atomic.Bool // every connection after one request
	count  atomic.Int64
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if r.closes.Load() {
		w.Header().Set("Connection", "close")
	}
	_, _ = io.Copy(io.Discard, req.Body) // a short body is an event that came in vain
	r.count.Add(1)
}

// bareArgument starts this program as the process that posts bare.
const bareArgument = "bare"

// bare returns the usage of a process of its own that posts batches of bare posts.
func (r *receiver) bare(ctx context.Context, batches int) (u usage.Usage, err error) {
	program, err := os.Executable()
	if err != nil {
		return u, fmt.Errorf("find this program: %w", err)
	}
	command := exec.CommandContext(ctx, program, bareArgument, r.url, strconv.Itoa(batches))
	command.Env, command.Stderr = append(os.Environ(), append(r.env, names.EnvGarbage+"="+names.CollectAt)...), os.Stderr
	out, err := command.Output()
	if err == nil {
		err = json.Unmarshal(out, &u)
	}
	if err != nil {
		return u, fmt.Errorf("post bare: %w", err)
	}
	return u, nil
}

// postBare posts batches of ten signed payloads at once, with an http.Client and no more,
// and writes the usage.
func postBare(ctx context.Context, url, batches string, out io.Writer) error {
	n, err := strconv.Atoi(batches)
	if err != nil {
		return fmt.Errorf("%q is not a number of batches", batches)
	}
	key, err := sign.Parse(sign.NewSecret())
	if err == nil {
		err = usage.Trust()
	}
	if err != nil {
		return fmt.Errorf("post bare: %w", err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: most}}
	var before usage.Usage
	for i := range n + most {
		if i == most { // the first ten are to warm up
			if before, err = usage.Now(); err != nil {
				return err
			}
		}
		var batch sync.WaitGroup
		var faults [most]error
		for j := range most {
			batch.Go(func() { faults[j] = barePost(ctx, client, url, key, i*most+j) })
		}
		batch.Wait()
		if err := errors.Join(faults[:]...); err != nil {
			return err
		}
	}
	after, err := usage.Now()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(after.Sub(before))
}

// barePost posts event n with a signature.
func barePost(ctx context.Context, client *http.Client, url string, key sign.Key, n int) error {
	now, body, id := time.Now(), []byte(payload), "evt_"+strconv.Itoa(n)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make a bare post: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	// The headers of a delivery: a share is of the same request.
	req.Header.Set("User-Agent", "Surehook/bench")
	req.Header.Set("X-Webhook-Event", "order.paid")
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
