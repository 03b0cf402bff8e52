package surehook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/names"
)

// Validate returns an error with every unsafe setting.
func (e Environment) Validate() error {
	f := faults{of: "environment " + e.Name}
	local := e.Name == "local"
	f.add(e.Name == "", "no name is set")
	f.add(e.Egress != names.EgressPublic && e.Egress != names.EgressLoopback, "egress %q is unknown", e.Egress)
	f.add(e.Egress == names.EgressLoopback && !local, "egress %q would let customers reach our own network: the value is for the local stack only", e.Egress)
	f.add(e.EgressHost != "" && (!local || e.Egress != names.EgressLoopback),
		"egress host %q would let customers reach our own network: the setting is for the local stack only", e.EgressHost)
	f.add(e.Architecture != "arm64" && e.Architecture != "amd64", "architecture %q is not arm64 or amd64", e.Architecture)
	e.checkProfiles(&f)
	f.add(e.Destinations != "" && !rolePath.MatchString(e.Destinations), `%q is not a path of roles, such as "/surehook/"`, e.Destinations)
	f.add(e.Retention == 0, "no retention is set")
	f.add(e.Archive && !e.PointInTimeRecovery, "an archive needs the backups of point-in-time recovery, and point-in-time recovery is off")
	if traces, err := url.Parse(e.Traces); e.Traces != "" && e.Traces != names.TracesXRay {
		f.add(err != nil || traces.Scheme != "https" || traces.Host == "" || traces.User != nil,
			"spans go to %s or to an https URL without a password, not to %q", names.TracesXRay, e.Traces)
	}
	for _, arn := range e.Producers {
		f.add(!principalARN.MatchString(arn), "the producer %q is not the ARN of an account's root, a role or a user", arn)
	}
	f.add(e.SealingKey != "" && !isARN(e.SealingKey, "kms"), "the sealing key %q is not the ARN of a KMS key", e.SealingKey)
	f.add(e.PermissionsBoundary != "" && !isARN(e.PermissionsBoundary, "iam"), "the permissions boundary %q is not the ARN of a policy", e.PermissionsBoundary)
	e.checkLogs(&f)
	e.WarmThroughput.check(&f)
	e.Throttles.check(&f)
	e.Thresholds.check(&f)
	e.Domain.check(&f)
	for _, fault := range e.settings().Faults() {
		f.add(true, "%w", fault)
	}
	f.add(!local && strings.HasPrefix(e.SignIn.Issuer, "http:"), "the issuer %q of the sign-in is not https", e.SignIn.Issuer)
	e.Events.check(&f)
	e.checkSenders(&f)
	e.Private.check(&f)
	e.checkConcurrency(&f)
	if e.AlarmEmail != "" {
		address, err := mail.ParseAddress(e.AlarmEmail)
		f.add(err != nil || address.Address != e.AlarmEmail, "%q is not an e-mail address", e.AlarmEmail)
	}
	return errors.Join(f.found...)
}

// checkConcurrency reports concurrency that Lambda refuses, and concurrency that takes
// more than the account has. A reservation is a ceiling, so a floor below the throttles
// would refuse requests that the throttles admit.
func (e Environment) checkConcurrency(f *faults) {
	c := e.Concurrency
	for _, n := range []int{c.Events, c.Live, c.Retry, c.Replay, c.Coalesce, c.Circuits, c.ReplayJobs} {
		f.add(n < leastConcurrency || n > mostConcurrency, "concurrency of a queue is %d: Lambda takes 2 to 1000", n)
	}
	f.add(c.Slots < 2*leastConcurrency || c.Slots > mostConcurrency, "%d slots: the queues slot and overflow share 4 to 1000", c.Slots)
	f.add(c.FixedSender < 0, "a ceiling of %d executions for sender-fixed is below 0", c.FixedSender)
	for _, floor := range []struct {
		name       string
		has, needs int
	}{{"ingest", c.Ingest, e.ingest()}, {"authorize", c.Authorize, e.Throttles.authorize()}} {
		f.add(floor.has != 0 && floor.has < floor.needs, "a reservation of %d executions for %s is a ceiling, and the throttles and the events queue let %d through", floor.has, floor.name, floor.needs)
	}
	f.add(e.reserved() > 0 && e.reserved() > c.Account-unreservedConcurrency,
		"%d reserved executions of the account's %d: AWS keeps %d unreserved", e.reserved(), c.Account, unreservedConcurrency)
	f.add(e.executions() > c.Account, "queues, API and reservations take %d concurrent executions, and the account has %d: raise its quota and Concurrency.Account, or lower the queues",
		e.executions(), c.Account)
}

// The throughput of a new on-demand table in units per second.
const (
	initialReadUnits  = 12_000
	initialWriteUnits = 4_000
)

// check reports a warm throughput below the throughput of a new table. Such a
// value would be a decrease, and DynamoDB refuses
// decreases.
func (w WarmThroughput) check(f *faults) {
	if w == (WarmThroughput{}) {
		return
	}
	f.add(w.ReadUnits < initialReadUnits || w.WriteUnits < initialWriteUnits,
		"warm throughput of %d read and %d write units a second: a new table starts at %d and %d",
		w.ReadUnits, w.WriteUnits, initialReadUnits, initialWriteUnits)
}

// check reports throttles without any requests, and throttles above the
// default.
func (t Throttles) check(f *faults) {
	most := t.Default
	for _, t := range []Throttle{most, t.Events, t.Batch, t.Public, t.Pages} {
		f.add(t.PerSecond < 1 || t.Burst < 1, "throttle of %d requests a second, burst %d, lets nothing in", t.PerSecond, t.Burst)
		f.add(t.PerSecond > most.PerSecond || t.Burst > most.Burst, "throttle of %d requests a second, burst %d, is above the default", t.PerSecond, t.Burst)
	}
}

// principalARN matches the principals of IAM.
var principalARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:(root|(role|user)/[\w+=,.@/-]+)$`)

// tenantPaths matches paths of names with dots between.
var tenantPaths = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// check reports a bus without a pattern, which would bring every event of the bus, and a
// path that names nothing.
func (b EventBus) check(f *faults) {
	f.add((b.Bus == "") != (b.Pattern == ""), "a bus needs both its name and the event pattern of its rule")
	var pattern map[string]any
	f.add(b.Pattern != "" && (json.Unmarshal([]byte(b.Pattern), &pattern) != nil || len(pattern) == 0), "the event pattern %q is not a JSON object with a field", b.Pattern)
	f.add(pattern != nil && dropped(pattern), "the event pattern %q has a null, or a number beyond 2^53: CDK would change them", b.Pattern)
	f.add(b.TenantPath != "" && !tenantPaths.MatchString(b.TenantPath), "the tenant path %q is not names with dots between, such as detail.tenant", b.TenantPath)
}

// dropped reports whether CDK's bridge to JavaScript changes a part of the value.
func dropped(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), dropped)
	case []any:
		return slices.ContainsFunc(value, dropped)
	case float64:
		return value > 1<<53 || value < -1<<53
	}
	return value == nil
}

// check reports thresholds with a constant alarm and thresholds without any
// alarm.
func (t Thresholds) check(f *faults) {
	for _, n := range []int{t.DeadLettersPerHour, t.AtRiskPerHour, t.IngestErrors, t.FunctionErrors, t.TableThrottles, t.ScheduleFailures} {
		f.add(n < 0, "a threshold of %d is always exceeded", n)
	}
	f.add(t.OldestPending < time.Minute, "a threshold of %v for the oldest delivery is below the minimum of a minute", t.OldestPending)
	f.add(t.SuccessRate <= 0 || t.SuccessRate > 100, "a success rate of %v percent is not above 0 and at most 100", t.SuccessRate)
}

// check reports a name without a certificate and the reverse. In an embedding
// app, a value from another resource is a token until deployment. A token
// passes the check.
// https://docs.aws.amazon.com/cdk/v2/guide/tokens.html
func (d Domain) check(f *faults) {
	f.add((d.Name == "") != (d.CertificateARN == ""), "a domain needs both its name and the ARN of its certificate")
	if d.CertificateARN != "" {
		f.add(!strings.HasPrefix(d.CertificateARN, "arn:") && !strings.Contains(d.CertificateARN, "${Token["),
			"the certificate %q is not an ARN", d.CertificateARN)
	}
}

// isARN reports whether the text is an ARN of the service, or a value that CloudFormation knows.
func isARN(text, service string) bool {
	parts := strings.Split(text, ":")
	return strings.Contains(text, "${Token[") || len(parts) > 5 && parts[0] == "arn" && parts[2] == service
}

// faults collects all faults of a value for one error.
type faults struct {
	of    string // the value, in the messages
	found []error
}

func (f *faults) add(bad bool, format string, args ...any) {
	if bad {
		f.found = append(f.found, fmt.Errorf(f.of+": "+format, args...))
	}
}
