//go:build e2e

package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"surehook.example/surehook/functions/internal/lambdafn"
	awslambda "surehook.example/surehook/internal/aws/lambda"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/localstack/emulator"
	"surehook.example/surehook/proof/certificate"
	"surehook.example/surehook/proof/world"
)

// The network namespace stands for the VPC: an address and a name that exist only there.
const (
	namespace = "surehook-private"
	address   = "10.203.0.7"
	receiver  = "erp.corp.internal"
	listOf    = `[{"cidrs": ["10.203.0.0/24"], "hosts": ["corp.internal"], "ports": [443]}]`
)

// hosts are the private zone. Some of its names lead away from the list.
const hosts = address + " " + receiver + ` moved.corp.internal
127.0.0.1 loopback.corp.internal
10.204.0.7 other.corp.internal
169.254.169.254 metadata.corp.internal
::ffff:10.203.0.7 mapped.corp.internal
`

// TestMain runs this program once more as the emulator's function, and by it as the VPC, where it is
// the receiver and function sender.
func TestMain(m *testing.M) {
	run := map[string]func() error{"function": runFunction, "inside": runInside}[os.Getenv("TEST_PRIVATE")]
	if run == nil {
		os.Exit(m.Run())
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// runFunction is the emulator's process of the function. As Lambda does with a VPC, it runs the code in
// the other network, and calls it from outside.
func runFunction() error {
	program := exec.CommandContext(context.Background(), "ip", "netns", "exec", namespace, os.Args[0])
	program.Env = append(os.Environ(), "TEST_PRIVATE=inside")
	program.Stderr = os.Stderr
	in, err := program.StdinPipe()
	if err != nil {
		return err
	}
	out, err := program.StdoutPipe()
	if err != nil {
		return err
	}
	if err := program.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	lambda.Start(func(_ context.Context, message json.RawMessage) (json.RawMessage, error) {
		if _, err := fmt.Fprintf(in, "%s\n", message); err != nil {
			return nil, err
		}
		return lines.ReadBytes('\n')
	})
	return nil
}

// runInside is the program in the namespace: a receiver with a certificate of the authority, and the
// function with the settings of a deployment. It answers one message in each line.
func runInside() error {
	authority := os.Getenv("TEST_PRIVATE_CA")
	pair, err := tls.X509KeyPair([]byte(os.Getenv("TEST_CERTIFICATE")), []byte(os.Getenv("TEST_KEY")))
	if err != nil {
		return err
	}
	listener, err := tls.Listen("tcp", net.JoinHostPort(address, "443"), &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(listener, http.HandlerFunc(answer)) }()
	cfg := config.Settings{Choices: config.Choices{Egress: names.EgressPublic}, Private: listOf, PrivateCA: authority}
	handle, err := newHandler(lambdafn.Function{Settings: cfg, Now: time.Now})
	if err != nil {
		return err
	}
	function, lines := lambda.NewHandler(handle), bufio.NewReader(os.Stdin)
	for {
		message, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // the test is over
		}
		if err != nil {
			return err
		}
		answer, err := function.Invoke(context.Background(), message)
		if err != nil {
			return err
		}
		fmt.Println(string(answer))
	}
}

// answer is the receiver: it redirects, gives a token, or takes the event.
func answer(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Query().Has("to"):
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
	case r.URL.Path == "/token":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"abc","token_type":"Bearer"}`)
	}
}

// enter makes the namespace, and on an emulator the function that runs in it.
func enter(t *testing.T) remote.Invoker {
	t.Helper()

	run := func(args ...string) {
		t.Helper()
		if text, err := exec.CommandContext(context.WithoutCancel(t.Context()), "ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v: %s", args, err, text)
		}
	}
	if _, err := exec.LookPath("ip"); err != nil || os.Getuid() != 0 {
		t.Skip("needs root, and ip of iproute2, for a network namespace")
	}
	zone := filepath.Join("/etc/netns", namespace)
	if err := errors.Join(os.MkdirAll(zone, 0o755), os.WriteFile(filepath.Join(zone, "hosts"), []byte(hosts), 0o644)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(zone) })
	run("netns", "add", namespace)
	t.Cleanup(func() { run("netns", "del", namespace) })
	run("-n", namespace, "addr", "add", address+"/24", "dev", "lo")
	run("-n", namespace, "link", "set", "lo", "up")

	authority, authorityKey := certificate.New(t, &x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign})
	cert, key := certificate.Issue(t, &x509.Certificate{DNSNames: []string{receiver, "*.corp.internal"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, authority, authorityKey)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	e, err := emulator.Start(t.Context(), emulator.MiniStack, emulator.Options{Root: root, Name: "private", Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	cfg := aws.Config{Region: emulator.Region, BaseEndpoint: &e.URL, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	_, err = sdk.NewFromConfig(cfg).CreateFunction(t.Context(), &sdk.CreateFunctionInput{
		FunctionName: aws.String(names.PrivateSender(stackName)), Runtime: types.RuntimeProvidedal2023, Handler: aws.String("bootstrap"), Timeout: aws.Int32(35),
		Role: aws.String("arn:aws:iam::" + emulator.Account + ":role/sender"), Code: &types.FunctionCode{ZipFile: archive(t)},
		Environment: &types.Environment{Variables: map[string]string{
			"TEST_PRIVATE": "function", "TEST_PRIVATE_CA": authority, "TEST_CERTIFICATE": cert, "TEST_KEY": key, "HTTPS_PROXY": "http://127.0.0.1:1", "PATH": os.Getenv("PATH"),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return awslambda.New(cfg, awslambda.Config{Private: names.PrivateSender(stackName)})
}

// archive is the code of the function: this program.
func archive(t *testing.T) []byte {
	t.Helper()

	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	files := zip.NewWriter(&text)
	header := &zip.FileHeader{Name: "bootstrap"}
	header.SetMode(0o755)
	file, err := files.CreateHeader(header)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(file, "#!/bin/sh\nexec %s\n", program)
	if err := errors.Join(err, files.Close()); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// TestAPrivateReceiver delivers to a receiver in a network namespace, where function sender is, too.
// Nothing else reaches it, and the function reaches nothing else.
func TestAPrivateReceiver(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{10 * time.Second}})
	signer := send.New(egress.NewClient(egress.Policy{}), egress.Policy{}, names.UserAgent(), time.Now)
	invoker := enter(t)
	w.Remote = &remote.Sender{Signer: signer, Invoker: invoker, Now: time.Now}
	private := func(url string) func(*hook.Endpoint) {
		return func(e *hook.Endpoint) {
			e.URL = url
			e.SetOrigin("", hook.EgressPrivate)
		}
	}
	const erp = "https://" + receiver + "/hooks"
	id := w.Post(w.Endpoint(private(erp)))[0]
	w.Run()
	if d := w.Delivery(id); d.State != hook.StateDelivered || d.Last.Region != hook.PrivateRegion || len(w.Posts) != 0 {
		t.Fatalf("%s after %+v from %q, %d posts from here; want delivered in the private network", d.State, d.Last, d.Last.Region, len(w.Posts))
	}

	listed, dialed := "must lead to a host and port that the deployment lists", "leads to an address that may not be dialed"
	for _, tt := range []struct {
		name, url, token string
		class            hook.Class
		text             string
	}{
		{name: "a redirect to a listed receiver", url: erp + "?to=https://moved.corp.internal/", class: hook.ClassDelivered},
		{name: "a redirect to the internet", url: erp + "?to=https://example.com/", class: hook.ClassBlocked, text: listed},
		{name: "a redirect to metadata", url: erp + "?to=https://metadata.corp.internal/", class: hook.ClassBlocked, text: dialed},
		{name: "a redirect to another network", url: erp + "?to=https://other.corp.internal/", class: hook.ClassBlocked, text: dialed},
		{name: "a name of loopback", url: "https://loopback.corp.internal/", class: hook.ClassBlocked, text: dialed},
		{name: "a name of metadata", url: "https://metadata.corp.internal/", class: hook.ClassBlocked, text: dialed},
		{name: "a name of another network", url: "https://other.corp.internal/", class: hook.ClassBlocked, text: dialed},
		{name: "a public address", url: "https://1.1.1.1/", class: hook.ClassBlocked, text: listed},
		{name: "another port", url: "https://" + receiver + ":8443/", class: hook.ClassBlocked, text: listed},
		{name: "a name that the zone does not have", url: "https://login.corp.internal/", class: hook.ClassDNS},
		{name: "a listed token endpoint", url: erp, token: "https://moved.corp.internal/token", class: hook.ClassDelivered},
		{name: "a token endpoint at metadata", url: erp, token: "https://metadata.corp.internal/token", class: hook.ClassToken, text: dialed},
	} {
		e := w.Endpoint(private(tt.url))
		r := send.Request{Endpoint: &e, Event: &hook.Event{ID: "evt_1", Type: "order.paid"}}
		if tt.token != "" {
			r.Grant = &send.Grant{For: e.ID, Secret: "secret", OAuth: hook.OAuth{ClientID: "crm", TokenURL: tt.token}}
		}
		outcome, err := w.Remote.Send(t.Context(), r)
		if err != nil || outcome.Class != tt.class || !strings.Contains(strings.ToLower(outcome.Error), strings.ToLower(tt.text)) {
			t.Errorf("%s: %+v, %v; want %s with %q", tt.name, outcome, err, tt.class, tt.text)
		}
	}

	public := w.Endpoint(func(e *hook.Endpoint) { e.URL = "https://" + address + "/" })
	if outcome := signer.Send(t.Context(), send.Request{Endpoint: &public, Event: &hook.Event{ID: "evt_1"}}); outcome.Class != hook.ClassBlocked {
		t.Errorf("another endpoint gets %s at %s; want blocked", outcome.Class, address)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	if conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address, "443")); err == nil { // a network may answer for all addresses
		defer func() { _ = conn.Close() }()
		if secured, ok := conn.(*tls.Conn); ok && secured.ConnectionState().PeerCertificates[0].VerifyHostname(receiver) == nil {
			t.Error("the receiver is reached from outside of its namespace")
		}
	}
}
