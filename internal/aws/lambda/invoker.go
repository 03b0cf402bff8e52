// Package lambda invokes the functions that send requests from other origins.
//
// The contract of [Invoker] is documented at the port remote.Invoker.
package lambda

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

var _ remote.Invoker = (*Invoker)(nil)

// connectTimeout limits a dial, and a TLS handshake. If a region cannot be reached, there must be
// time left for an attempt from the deployment's own region.
const connectTimeout = 3 * time.Second

// idleConnections is how many idle connections to one region are kept: a batch has 10 messages.
const idleConnections = 10

var (
	errFunction = errors.New("the function ended without an answer")
	errRegion   = errors.New("the deployment has no sender in the region")
)

// Config names the functions.
type Config struct {
	Regional string   // function in each of Regions
	Regions  []string // other regions
	Fixed    string   // function of the deployment's own region with fixed addresses
	Private  string   // function of the deployment's own region in the private network
}

// Invoker invokes one function per origin. It is safe for concurrent use.
type Invoker struct {
	config  Config
	clients map[string]*awslambda.Client // by region, with those of the port
}

// New returns an invoker with a client for each region.
//
// A client never repeats a request, because each request to a sender is a POST to an
// endpoint. So the clients have no retries, and speak HTTP/1.1: over HTTP/2, net/http
// repeats requests that a server refuses.
func New(cfg aws.Config, config Config) *Invoker {
	client, ok := cfg.HTTPClient.(*awshttp.BuildableClient) // with the idle time of all clients
	if !ok {
		client = awshttp.NewBuildableClient()
	}
	client = client.WithDialerOptions(func(d *net.Dialer) {
		d.Timeout = connectTimeout
	}).WithTransportOptions(func(t *http.Transport) {
		t.TLSHandshakeTimeout = connectTimeout
		t.ForceAttemptHTTP2 = false
		t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
		t.MaxIdleConnsPerHost = idleConnections
	})
	i := &Invoker{config: config, clients: make(map[string]*awslambda.Client, len(config.Regions)+2)}
	own := []string{"", hook.PrivateRegion}
	for _, region := range slices.Concat(own, config.Regions) {
		i.clients[region] = awslambda.NewFromConfig(cfg, func(o *awslambda.Options) {
			if !slices.Contains(own, region) {
				o.Region = region
			}
			o.Retryer = aws.NopRetryer{}
			o.RetryMaxAttempts = 0
			o.HTTPClient = client
		})
	}
	return i
}

// Invoke invokes the function and waits for the answer, until the end of ctx.
//
// The function did not run if no connection to Lambda was made, or if Lambda refused: with
// any 4xx status, or with an error from before it starts a function. After an answer with
// another 5xx, a broken connection, a timeout or an error of the function, the function may
// have sent the request.
func (i *Invoker) Invoke(ctx context.Context, region string, message []byte) ([]byte, error) {
	name := i.config.Regional
	switch region {
	case "":
		name = i.config.Fixed
	case hook.PrivateRegion:
		name = i.config.Private
	}
	client, ok := i.clients[region]
	if !ok {
		return nil, fmt.Errorf("%w: %w: %s", send.ErrNotSent, errRegion, region)
	}
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	out, err := client.Invoke(ctx, &awslambda.InvokeInput{
		FunctionName:   aws.String(name),
		InvocationType: types.InvocationTypeRequestResponse,
		Payload:        message,
	})
	switch {
	case err != nil && (!connected.Load() || refused(err)):
		return nil, fmt.Errorf("%w: invoke %s: %w", send.ErrNotSent, name, err)
	case err != nil:
		return nil, fmt.Errorf("invoke %s: %w", name, err)
	case out.FunctionError != nil: // the payload is a text of the runtime
		return nil, fmt.Errorf("invoke %s: %w: %s", name, errFunction, *out.FunctionError)
	}
	return out.Payload, nil
}

// refused reports whether Lambda answered before it ran the function.
func refused(err error) bool {
	response, ok := errors.AsType[*smithyhttp.ResponseError](err)
	if !ok {
		return false
	}
	status := response.HTTPStatusCode()
	if status >= 400 && status < 500 {
		return true
	}
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && status == http.StatusBadGateway && beforeStart(api.ErrorCode())
}

// beforeStart reports whether Lambda failed to prepare the function: its code, key or network.
// Lambda answers these errors with status 502.
// https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors
func beforeStart(code string) bool {
	switch code {
	case "EC2AccessDeniedException", "EC2ThrottledException", "EC2UnexpectedException", "ENILimitReachedException",
		"SubnetIPAddressLimitReachedException", "InvalidSecurityGroupIDException", "InvalidSubnetIDException",
		"InvalidRuntimeException", "InvalidZipFileException", "ResourceNotReadyException",
		"KMSAccessDeniedException", "KMSDisabledException", "KMSInvalidStateException", "KMSNotFoundException":
		return true
	}
	return false
}
