package smoke

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

// Options configures Run.
type Options struct {
	Stack string     // the deployment's stack, which is the prefix of its names
	AWS   aws.Config // of the account and region of the stack
	HTTP  *http.Client
	// Reach translates the URL of the receiver's function for a place with
	// another address than AWS's; nil for none.
	Reach func(url string) (string, error)
	// Missing names checks that the place cannot answer, with the reasons, and
	// actions that its simulator cannot judge, as "permissions suffice: <action>".
	// On AWS there is none.
	Missing map[string]string
	Latency LatencyLimits
	Long    bool // wait for a schedule beyond 15 minutes
	Out     io.Writer
	Now     func() time.Time
}

// DefaultLatency are the limits for a deployment on AWS.
func DefaultLatency() LatencyLimits {
	return LatencyLimits{P50: 2 * time.Second, P99: 10 * time.Second}
}

// Run proves the deployment and removes what it made, also after the end of ctx.
// Run prints each result, and a table at the end. The error is for a deployment
// that cannot be found; a failed check is a result.
func Run(ctx context.Context, o Options) ([]Result, error) {
	d, err := discover(ctx, o.AWS, o.Stack)
	if err != nil {
		return nil, err
	}
	admin, err := NewClient(d.outputs["ApiUrl"], d.adminKey, o.HTTP)
	if err != nil {
		return nil, err
	}
	id := strings.ToLower(rand.Text()[:8])
	s := &session{
		Options: o, deployment: d, tenant: "smoke-" + id, admin: admin,
		small: receiverStack{client: cloudformation.NewFromConfig(o.AWS), name: o.Stack + "-smoke-" + id, of: o.Stack},
	}
	began := o.Now()
	s.say("stack %s in %s, account %s; tenant %s\n", o.Stack, d.stack.Region, d.stack.AccountID, s.tenant)

	var looked, sent []Result
	var both sync.WaitGroup
	both.Go(func() { looked = s.run(ctx, s.cloud()) })
	both.Go(func() { sent = s.flows(ctx) })
	both.Wait()

	// Ctrl-C ends the checks, and not the removal.
	results := append(append(sent, looked...), s.run(context.WithoutCancel(ctx), []Check{{Name: "removal", Limit: deleteLimit, Run: s.remove}})...)
	s.say("\n")
	if err := WriteTable(o.Out, results); err != nil {
		return results, err
	}
	s.say("\n%s after %.0f s\n", summary(results), o.Now().Sub(began).Seconds())
	return results, nil
}

// summary counts the verdicts.
func summary(results []Result) string {
	n, all := map[Verdict]int{}, Pass
	if Failed(results) {
		all = Fail
	}
	for _, r := range results {
		n[r.Verdict]++
	}
	return fmt.Sprintf("%s: %d passed, %d failed, %d skipped", all, n[Pass], n[Fail], n[Skip])
}

// session is one run.
type session struct {
	Options

	deployment deployment
	tenant     string
	admin      *client.Client
	small      receiverStack
	keyID      string // of the tenant's key; "" before it is made

	mu sync.Mutex // guards Out
}

func (s *session) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.Out, format, args...) //nolint:errcheck // a failed progress line is harmless
}

// run runs the checks, and skips the checks that the place cannot answer.
func (s *session) run(ctx context.Context, checks []Check) []Result {
	for i, c := range checks {
		if reason, ok := s.Missing[c.Name]; ok {
			checks[i].Run = func(context.Context) (string, error) { return "", Skipped(reason) }
		}
	}
	return run(ctx, checks, s.Now, func(r Result) { s.say("%s  %s (%.1f s)\n", r.Verdict, r.Name, r.Took.Seconds()) })
}

// flows makes the receiver and the tenant's key, and runs the flows. Without a
// receiver, the flows are skipped.
func (s *session) flows(ctx context.Context) []Result {
	f := &Flows{Tenant: s.tenant, Latency: s.Latency, Long: s.Long, Now: s.Now}
	f.Schedules = deployedSchedules{client: scheduler.NewFromConfig(s.AWS), group: s.deployment.outputs["ScheduleGroupName"]}
	ready := s.run(ctx, []Check{{Name: "receiver and tenant", Limit: createLimit, Run: func(ctx context.Context) (string, error) {
		receiver, err := s.receiver(ctx)
		if err != nil {
			return "", err
		}
		f.Receiver = receiver
		f.API, err = s.tenantKey(ctx)
		return "stack " + s.small.name, err
	}}})
	checks := f.Checks()
	if Failed(ready) {
		for i := range checks {
			checks[i].Run = func(context.Context) (string, error) { return "", Skipped("there is no receiver") }
		}
	}
	return append(ready, s.run(ctx, checks)...)
}

// receiver makes the receiver's stack and waits for the first answer: the
// permission to call a new URL takes effect a little later.
func (s *session) receiver(ctx context.Context) (Receiver, error) {
	outputs, err := s.small.create(ctx)
	if err != nil {
		return nil, err
	}
	address := outputs["Url"]
	if s.Reach != nil {
		if address, err = s.Reach(address); err != nil {
			return nil, err
		}
	}
	r := deployedReceiver{db: dynamodb.NewFromConfig(s.AWS), http: s.HTTP, table: outputs["Table"], url: strings.TrimSuffix(address, "/")}
	if err := until(ctx, func() (string, error) {
		if _, err := r.Clock(ctx); err != nil {
			return err.Error(), nil //nolint:nilerr // the receiver is not ready
		}
		return "", nil
	}); err != nil {
		return nil, err
	}
	return r, warm(ctx, r)
}

// warmed is the number of sandboxes of the receiver that start before the flows.
// A request to a cold sandbox would look late by a second.
const warmed = 4

// warm starts sandboxes of the receiver by requests at the same time.
func warm(ctx context.Context, r Receiver) error {
	faults := make([]error, warmed)
	var all sync.WaitGroup
	for i := range faults {
		all.Go(func() { _, faults[i] = r.Clock(ctx) })
	}
	all.Wait()
	return errors.Join(faults...)
}

// tenantKey makes a key of the tenant, with the scopes of the flows. The end of ctx
// does not end the call: the removal needs the key's id.
func (s *session) tenantKey(ctx context.Context) (*client.Client, error) {
	key, err := s.admin.Keys.Create(context.WithoutCancel(ctx), openapi.KeyCreate{
		Name: "make smoke", Tenant: s.tenant, Scopes: []openapi.KeyCreateScopes{"events:write", "endpoints:write", "read", "replay"},
	})
	if err != nil {
		return nil, fmt.Errorf("create a key: %w", err)
	}
	s.keyID = key.Id
	return NewClient(s.deployment.outputs["ApiUrl"], key.Key, s.HTTP)
}

// remove removes the tenant's endpoints and key, and the receiver's stack. Every
// removal is tried; the error names what is left.
func (s *session) remove(ctx context.Context) (string, error) {
	var stack error
	var all sync.WaitGroup
	all.Go(func() {
		if stack = s.small.remove(ctx); stack != nil {
			stack = fmt.Errorf("left over: the stack %s; remove it with aws cloudformation delete-stack: %w", s.small.name, stack)
		}
	})
	endpoints := s.removeEndpoints(ctx)
	key := s.revokeKey(ctx)
	all.Wait()
	return "the receiver's stack, the endpoints and the key are gone", errors.Join(stack, endpoints, key)
}

// removeEndpoints deletes the tenant's endpoints.
func (s *session) removeEndpoints(ctx context.Context) error {
	var faults []error
	for e, err := range s.admin.Endpoints.List(ctx, s.tenant) {
		if err != nil {
			return errors.Join(append(faults, fmt.Errorf("left over: the endpoints of tenant %s: %w", s.tenant, err))...)
		}
		if err := s.admin.Endpoints.Delete(ctx, s.tenant, e.Id); err != nil {
			faults = append(faults, fmt.Errorf("left over: the endpoint %s of tenant %s: %w", e.Id, s.tenant, err))
		}
	}
	return errors.Join(faults...)
}

// revokeKey revokes the tenant's key, if there is one.
func (s *session) revokeKey(ctx context.Context) error {
	if s.keyID == "" {
		return nil
	}
	if err := s.admin.Keys.Revoke(ctx, s.keyID); err != nil {
		return fmt.Errorf("left over: the key %s: %w", s.keyID, err)
	}
	return nil
}
