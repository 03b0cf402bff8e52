package surehook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/profiles"
	"surehook.example/surehook/internal/rule/sign"
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
	f.add(!slices.Contains(logDays, e.LogDays), "log lines cannot be kept for %d days, but for %v", e.LogDays, logDays)
	w := e.WarmThroughput // a lower one than that of a new table would be a decrease, and DynamoDB refuses decreases
	f.add(w != (WarmThroughput{}) && (w.ReadUnits < initialReadUnits || w.WriteUnits < initialWriteUnits),
		"warm throughput of %d read and %d write units a second: a new table starts at %d and %d",
		w.ReadUnits, w.WriteUnits, initialReadUnits, initialWriteUnits)
	e.Throttles.check(&f)
	e.Thresholds.check(&f)
	f.add((e.Domain.Name == "") != (e.Domain.CertificateARN == ""), "a domain needs both its name and the ARN of its certificate")
	f.add(e.Domain.CertificateARN != "" && !isARN(e.Domain.CertificateARN, "acm"), "the certificate %q is not the ARN of a certificate of ACM", e.Domain.CertificateARN)
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

// checkProfiles checks the definitions, and that the profiles of new endpoints exist.
func (e Environment) checkProfiles(f *faults) {
	text := e.SignatureProfiles
	f.add(len(text) > maxSetting, "the signature profiles have %d bytes, and %d is the most", len(text), maxSetting)
	own, err := profiles.Parse([]byte(text))
	f.add(err != nil, "signature profiles: %v", err)
	known := sign.Known(own)
	f.add(len(e.Signatures) > hook.MaxProfiles, "new endpoints have %d signature profiles, and %d is the most", len(e.Signatures), hook.MaxProfiles)
	named := make([]hook.SignatureProfile, len(e.Signatures))
	for i, name := range e.Signatures {
		p, ok := known[name]
		f.add(!ok, "signature profile %q is unknown", name)
		p.Name = name
		named[i] = p
	}
	for _, wrong := range sign.CheckProfiles(&hook.Endpoint{Profiles: named}) {
		f.add(true, "%s", wrong.Message)
	}
}

// checkSenders reports regions that are no regions, or are named twice, and numbers of
// zones without support.
func (e Environment) checkSenders(f *faults) {
	for i, region := range e.Senders {
		f.add(!awsRegion.MatchString(region), "%q is not a region for a sender, such as us-east-1", region)
		f.add(slices.Contains(e.Senders[:i], region), "the region %s has two senders", region)
	}
	f.add(len(e.FixedAllocations) > 0 && len(e.FixedAllocations) != e.FixedZones, "%d allocations for fixed addresses in %d zones: each zone takes one", len(e.FixedAllocations), e.FixedZones)
	for _, a := range e.FixedAllocations {
		ip, err := netip.ParseAddr(a.Address)
		f.add(!allocation.MatchString(a.ID) || err != nil || !ip.Is4(), "%q is not an allocation and its address, such as eipalloc-0a1b2c3d=198.51.100.7", a.ID+"="+a.Address)
	}
	f.add(e.FixedZones < 0 || e.FixedZones > mostZones, "fixed addresses in %d zones: a stack without a region takes 0 to %d", e.FixedZones, mostZones)
}

// checkConcurrency reports concurrency that Lambda refuses, and concurrency that takes
// more than the account has.
func (e Environment) checkConcurrency(f *faults) {
	c := e.Concurrency
	for _, n := range []int{c.Events, c.Live, c.Retry, c.Replay, c.Coalesce, c.Circuits, c.ReplayJobs} {
		f.add(n < leastConcurrency || n > mostConcurrency, "concurrency of a queue is %d: Lambda takes 2 to 1000", n)
	}
	f.add(c.Slots < 2*leastConcurrency || c.Slots > mostConcurrency, "%d slots: the queues slot and overflow share 4 to 1000", c.Slots)
	f.add(c.FixedSender < 0, "a ceiling of %d executions for sender-fixed is below 0", c.FixedSender)
	reserved := e.ceilings()
	f.add(reserved > 0 && reserved > c.Account-unreservedConcurrency,
		"%d reserved executions of the account's %d: AWS keeps %d unreserved", reserved, c.Account, unreservedConcurrency)
	f.add(e.executions() > c.Account, "queues, API and reservations take %d concurrent executions, and the account has %d: raise its quota and Concurrency.Account, or lower the queues",
		e.executions(), c.Account)
}

// The throughput of a new on-demand table in units per second.
const (
	initialReadUnits  = 12_000
	initialWriteUnits = 4_000
)

// check reports throttles without any requests, and throttles above the
// default.
func (t Throttles) check(f *faults) {
	most := t.Default
	for _, t := range []Throttle{most, t.Events, t.Batch, t.Public, t.Pages} {
		f.add(t.PerSecond < 1 || t.Burst < 1, "throttle of %d requests a second, burst %d, lets nothing in", t.PerSecond, t.Burst)
		f.add(t.PerSecond > most.PerSecond || t.Burst > most.Burst, "throttle of %d requests a second, burst %d, is above the default", t.PerSecond, t.Burst)
	}
}

// rolePath matches the paths of roles. The path "/" would include everybody's roles.
var rolePath = regexp.MustCompile(`^(/[A-Za-z0-9_+=,.@-]+)+/$`)

// allocation matches the ids of elastic IP addresses.
var allocation = regexp.MustCompile(`^eipalloc-[0-9a-f]+$`)

// awsRegion matches the names of AWS regions.
var awsRegion = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[1-9]$`)

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

// isARN reports whether the text is an ARN of the service, or a token: in an embedding app, a value
// from another resource is one until the deployment.
// https://docs.aws.amazon.com/cdk/v2/guide/tokens.html
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
