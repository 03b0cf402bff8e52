// Package destination makes attempts at resources of customers in AWS. Each attempt is one request,
// with a session of the customer's role. Each type of resource has a file, and another in
// rule/destination with what the API knows of it.
//
// The contract of [Sender] is documented at the port attempt.Sender. The package knows which
// answer of AWS is which outcome; package send signs.
package destination

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"surehook.example/surehook/internal/cache"
	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	rule "surehook.example/surehook/internal/rule/destination"
)

var _ attempt.Sender = (*Sender)(nil)

const (
	sessionLife   = 15 * time.Minute // the shortest that STS gives
	sessionMargin = time.Minute      // a session is used until this long before its end
	maxSessions   = 8 << 20          // bytes per process; a new session replaces the one unused for longest
	sessionBytes  = 24 << 10         // more than one takes
)

// What one process asks STS for: a session for each endpoint and SessionUse, while it has no more
// than Sessions endpoints. proof/scale computes with them.
const (
	SessionUse = sessionLife - sessionMargin
	Sessions   = maxSessions / sessionBytes
)

// kind is the sending half of a type of destination.
type kind struct {
	connect func(aws.Config) put
	codes   codes // of the service, beside the common ones
}

// put sends a request, prepared as p, to the endpoint's destination, and returns the id that AWS
// gave to the message.
type put func(ctx context.Context, r *send.Request, p send.Prepared) (id string, err error)

// kinds returns the types of destinations in AWS, which are those of package rule/destination.
func kinds() map[hook.DestinationType]kind {
	return map[hook.DestinationType]kind{
		rule.SQS: sqs(), rule.SQSFIFO: sqsFIFO(), rule.SNS: sns(), rule.EventBridge: eventbridge(), rule.Kinesis: kinesis(),
	}
}

// Sender makes attempts. Sender is safe for concurrent use.
type Sender struct {
	signer   *send.Sender
	allowed  hook.Destinations
	config   aws.Config
	roles    *sts.Client
	sessions *cache.Cache[sessionKey, *session]
}

// sessionKey identifies a session. Each endpoint has its own.
type sessionKey struct {
	endpoint         hook.EndpointID
	to               hook.DestinationType
	region           string
	role, externalID string
}

// session is a session of a customer's role, with the client that uses it.
type session struct {
	credentials *aws.CredentialsCache
	put         put
}

// New returns a sender. Its clients never repeat a request, because each request is an attempt.
func New(cfg aws.Config, signer *send.Sender, allowed hook.Destinations) *Sender {
	client, ok := cfg.HTTPClient.(*awshttp.BuildableClient) // with the idle time of all clients
	if !ok {
		client = awshttp.NewBuildableClient()
	}
	cfg.HTTPClient = client.WithTimeout(hook.MaxTimeout) // the request for a session may outlast the attempt that made it
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	cfg.RetryMaxAttempts = 0
	cfg.APIOptions = nil // what a customer's resource refuses is no alarm of ours
	return &Sender{signer: signer, allowed: allowed, config: cfg, roles: sts.NewFromConfig(cfg), sessions: cache.New[sessionKey, *session](maxSessions, nil)}
}

// Send makes one attempt. The endpoint's timeout includes a request for the session.
func (s *Sender) Send(ctx context.Context, r send.Request) hook.Outcome {
	start := s.signer.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, r.Endpoint.Timeout, send.ErrDeadline)
	defer cancel()

	outcome := s.send(ctx, r)
	outcome.URL = r.Endpoint.URL
	outcome.Duration = s.signer.Now().Sub(start)
	return outcome
}

func (s *Sender) send(ctx context.Context, r send.Request) hook.Outcome {
	e := r.Endpoint
	to, _ := rule.Of(e)
	region, _ := to.Address(e.URL)
	if region == "" {
		return hook.Outcome{Class: hook.ClassBlocked, Error: "The endpoint's url is not an address of its destination."}
	}
	if wrong := rule.Check(s.allowed, e); len(wrong) > 0 {
		return hook.Outcome{Class: hook.ClassBlocked, Error: "The endpoint's " + wrong[0].Field + " " + wrong[0].Message + "."}
	}
	if !utf8.Valid(r.Content.Body) {
		return common().outcomeOf(ctx, fmt.Errorf("%w: the body is not UTF-8", errContents))
	}
	if len(r.Content.Headers) > 0 {
		return common().outcomeOf(ctx, fmt.Errorf("%w: its transformation has headers, and only http has headers", errContents))
	}
	key := sessionKey{endpoint: e.ID, to: to.Name, region: region, role: e.Destination.Settings[rule.RoleARN], externalID: e.Destination.ExternalID}
	session := s.session(key)
	if _, err := session.credentials.Retrieve(ctx); err != nil {
		s.sessions.Remove(key)
		return ofRole(ctx, err)
	}
	id, err := session.put(ctx, &r, s.signer.Prepare(r))
	if err == nil {
		o := hook.Outcome{Class: hook.ClassDelivered, Status: http.StatusOK, Body: []byte(id)}
		if r.Event.ID.IsTest() && s.admitsAnybody(ctx, key) {
			o.Error = "The role can be assumed without the endpoint's external_id: require sts:ExternalId in its trust policy, or another tenant can send to it."
		}
		return o
	}
	outcome := kinds()[to.Name].codes.outcomeOf(ctx, err)
	if outcome.Class == hook.ClassToken { // so that the next attempt asks for the role again
		s.sessions.Remove(key)
	}
	return outcome
}

// admitsAnybody reports whether the role can be assumed without the external id. Then another tenant
// of this deployment could name the role. Only a test event asks, because each question leaves a
// refusal in the trail of the customer's account.
func (s *Sender) admitsAnybody(ctx context.Context, key sessionKey) bool {
	_, err := s.roles.AssumeRole(ctx, &sts.AssumeRoleInput{
		RoleArn: &key.role, RoleSessionName: aws.String(string(key.endpoint)), DurationSeconds: aws.Int32(int32(sessionLife.Seconds())),
	})
	return err == nil
}

// session returns the kept session, or a new one. Concurrent attempts share a session.
func (s *Sender) session(key sessionKey) *session {
	if kept, ok := s.sessions.Get(key); ok {
		return kept
	}
	role := stscreds.NewAssumeRoleProvider(s.roles, key.role, func(o *stscreds.AssumeRoleOptions) {
		o.ExternalID = aws.String(key.externalID)
		o.RoleSessionName = string(key.endpoint)
		o.Duration = sessionLife
	})
	cfg := s.config.Copy()
	cfg.Region = key.region
	fresh := &session{credentials: aws.NewCredentialsCache(role, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = sessionMargin })}
	cfg.Credentials = fresh.credentials
	fresh.put = kinds()[key.to].connect(cfg)
	return s.sessions.GetOrAdd(key, fresh, sessionBytes)
}

// errContents means that AWS would refuse the message, so it is not sent.
var errContents = errors.New("AWS does not take the event")
