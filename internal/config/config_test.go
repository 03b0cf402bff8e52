package config_test

import (
	"errors"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

func lookup(env map[string]string) config.Lookup {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

var deliverEnv = map[string]string{
	names.EnvTable:                 "table",
	names.EnvKey:                   "arn:aws:kms:eu-west-1:111122223333:key/k",
	names.EnvLiveQueue:             "https://sqs/live",
	names.EnvEventsQueue:           "https://sqs/events",
	names.EnvEnvelope:              "standard",
	names.EnvRejectsQueue:          "https://sqs/rejects",
	names.EnvTenantPath:            "detail.tenant",
	names.EnvRetryQueue:            "https://sqs/retry",
	names.EnvRetryQueueARN:         "arn:aws:sqs:eu-west-1:111122223333:retry",
	names.EnvSlotQueue:             "https://sqs/slot",
	names.EnvOverflowQueue:         "https://sqs/overflow",
	names.EnvCoalesceQueue:         "https://sqs/coalesce",
	names.EnvTenantPlaces:          "5",
	names.EnvDeadLettersQueue:      "https://sqs/dead-letters",
	names.EnvCircuitsQueue:         "https://sqs/circuits",
	names.EnvUndeliverableRetryARN: "arn:aws:sqs:eu-west-1:111122223333:undeliverable-retry",
	names.EnvScheduleGroup:         "group",
	names.EnvScheduleRole:          "arn:aws:iam::111122223333:role/r",
	names.EnvEgress:                names.EgressPublic,
	names.EnvAPIHosts:              "a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com,hooks.example.com",
	names.EnvEnvironment:           "prod",
	names.EnvTopic:                 "arn:aws:sns:eu-west-1:111122223333:topic",
	names.EnvRetention:             "2160h",
	names.EnvRuntimeAPI:            "127.0.0.1:9001",
}

func TestForDeliver(t *testing.T) {
	t.Parallel()

	got, err := config.ForDeliver(lookup(deliverEnv))
	if err != nil {
		t.Fatalf("ForDeliver() = %v", err)
	}
	want := config.Deliver{
		Environment: "prod", Table: "table", KeyARN: "arn:aws:kms:eu-west-1:111122223333:key/k",
		LiveQueue: "https://sqs/live", RetryQueue: "https://sqs/retry", RetryQueueARN: "arn:aws:sqs:eu-west-1:111122223333:retry",
		SlotQueue: "https://sqs/slot", OverflowQueue: "https://sqs/overflow", CoalesceQueue: "https://sqs/coalesce", TenantPlaces: 5,
		DeadLettersQueue: "https://sqs/dead-letters", CircuitsQueue: "https://sqs/circuits",
		UndeliverableRetryARN: "arn:aws:sqs:eu-west-1:111122223333:undeliverable-retry",
		ScheduleGroup:         "group", ScheduleRoleARN: "arn:aws:iam::111122223333:role/r",
		TopicARN: "arn:aws:sns:eu-west-1:111122223333:topic", Retention: 90 * 24 * time.Hour,
		Egress: config.Egress{
			RuntimeAPI: netip.MustParseAddrPort("127.0.0.1:9001"),
			APIHosts:   []string{"a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com", "hooks.example.com"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("ForDeliver() = %+v; want %+v", got, want)
	}
}

func TestForBreaker(t *testing.T) {
	t.Parallel()

	env := maps.Clone(deliverEnv)
	env[names.EnvReplayQueue] = "https://sqs/replay"
	got, err := config.ForBreaker(lookup(env)) // Breaker needs fewer variables
	want := config.Breaker{
		Environment: "prod", Table: "table", LiveQueue: "https://sqs/live", RetryQueue: "https://sqs/retry", ReplayQueue: "https://sqs/replay",
		SlotQueue: "https://sqs/slot", OverflowQueue: "https://sqs/overflow", CoalesceQueue: "https://sqs/coalesce", DeadLettersQueue: "https://sqs/dead-letters", CircuitsQueue: "https://sqs/circuits",
		TopicARN: "arn:aws:sns:eu-west-1:111122223333:topic", Retention: 90 * 24 * time.Hour,
	}
	if err != nil || got != want {
		t.Errorf("ForBreaker() = %+v, %v; want %+v", got, err, want)
	}
}

func TestForManage_Queues(t *testing.T) {
	t.Parallel()

	env := maps.Clone(deliverEnv)
	env[names.EnvReplayQueue], env[names.EnvReplayJobsQueue] = "https://sqs/replay", "https://sqs/replay-jobs"
	env[names.EnvUndeliverable] = "https://sqs/undeliverable"
	env[names.EnvUndeliverableRetry] = "https://sqs/undeliverable-retry"
	got, err := config.ForManage(lookup(env))
	want := map[string]string{
		"events": "https://sqs/events", "rejects": "https://sqs/rejects",
		"live": "https://sqs/live", "retry": "https://sqs/retry", "replay": "https://sqs/replay", "replay_jobs": "https://sqs/replay-jobs",
		"slot": "https://sqs/slot", "overflow": "https://sqs/overflow", "coalesce": "https://sqs/coalesce",
		"circuits": "https://sqs/circuits", "dead_letters": "https://sqs/dead-letters", "undeliverable": "https://sqs/undeliverable", "undeliverable_retry": "https://sqs/undeliverable-retry",
	}
	if err != nil || !maps.Equal(got.Queues, want) {
		t.Errorf("ForManage().Queues = %v, %v; want %v", got.Queues, err, want)
	}
}

func TestForReplay(t *testing.T) {
	t.Parallel()

	got, err := config.ForReplay(lookup(map[string]string{
		names.EnvEnvironment: "prod", names.EnvTable: "table", names.EnvReplayQueue: "https://sqs/replay", names.EnvReplayJobsQueue: "https://sqs/replay-jobs",
	}))
	want := config.Replay{Environment: "prod", Table: "table", ReplayQueue: "https://sqs/replay", ReplayJobsQueue: "https://sqs/replay-jobs"}
	if err != nil || got != want {
		t.Errorf("ForReplay() = %+v, %v; want %+v", got, err, want)
	}
}

func TestForDeliver_Loopback(t *testing.T) {
	t.Parallel()

	env := maps.Clone(deliverEnv)
	env[names.EnvEgress] = names.EgressLoopback
	if got, err := config.ForDeliver(lookup(env)); err != nil || !got.Egress.Loopback {
		t.Errorf("ForDeliver() = %+v, %v; want loopback", got.Egress, err)
	}
	env[names.EnvEgress] = "everything"
	if _, err := config.ForDeliver(lookup(env)); err == nil || !strings.Contains(err.Error(), names.EnvEgress) {
		t.Errorf("ForDeliver() = %v; want an error that names %s", err, names.EnvEgress)
	}
}

func TestForDeliver_TenantPlaces(t *testing.T) {
	t.Parallel()

	for value, ok := range map[string]bool{"1": true, "250": true, "0": false, "-1": false, "2.5": false, "some": false} {
		env := maps.Clone(deliverEnv)
		env[names.EnvTenantPlaces] = value
		if _, err := config.ForDeliver(lookup(env)); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), names.EnvTenantPlaces) {
			t.Errorf("ForDeliver(%s places) = %v; want ok: %t, or an error that names %s", value, err, ok, names.EnvTenantPlaces)
		}
	}
}

func TestForDeliver_Host(t *testing.T) {
	t.Parallel()

	env := maps.Clone(deliverEnv)
	env[names.EnvEgressHost] = "host.docker.internal"
	if _, err := config.ForDeliver(lookup(env)); err == nil || !strings.Contains(err.Error(), names.EnvEgressHost) {
		t.Errorf("ForDeliver() = %v; want an error that names %s, because egress is %s", err, names.EnvEgressHost, env[names.EnvEgress])
	}
	env[names.EnvEgress] = names.EgressLoopback
	if got, err := config.ForDeliver(lookup(env)); err != nil || got.Egress.Host != "host.docker.internal" {
		t.Errorf("ForDeliver() = %+v, %v; want the host", got.Egress, err)
	}
}

func TestFor_NamesEveryMissingVariable(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		read func(config.Lookup) error
		want []string
	}{
		{name: "ingest", read: func(l config.Lookup) error { _, err := config.ForIngest(l); return err }, want: []string{
			names.EnvTable, names.EnvLiveQueue, names.EnvCoalesceQueue, names.EnvRetention, names.EnvValidation,
			names.EnvEnvironment, names.EnvEventsQueue, names.EnvRejectsQueue, names.EnvTenantPath,
		}},
		{name: "deliver", read: func(l config.Lookup) error { _, err := config.ForDeliver(l); return err }, want: []string{
			names.EnvTable, names.EnvKey, names.EnvLiveQueue, names.EnvRetryQueue, names.EnvRetryQueueARN, names.EnvDeadLettersQueue,
			names.EnvSlotQueue, names.EnvOverflowQueue, names.EnvCoalesceQueue, names.EnvTenantPlaces,
			names.EnvCircuitsQueue, names.EnvUndeliverableRetryARN, names.EnvScheduleGroup, names.EnvScheduleRole, names.EnvEgress,
			names.EnvAPIHosts,
			names.EnvEnvironment, names.EnvTopic, names.EnvRetention,
		}},
		{name: "manage", read: func(l config.Lookup) error { _, err := config.ForManage(l); return err }, want: []string{
			names.EnvTable, names.EnvKey, names.EnvLiveQueue, names.EnvCircuitsQueue, names.EnvRetention, names.EnvEgress,
			names.EnvAPIHosts, names.EnvEventsQueue, names.EnvRejectsQueue,
			names.EnvRetryQueue, names.EnvReplayQueue, names.EnvReplayJobsQueue, names.EnvDeadLettersQueue, names.EnvUndeliverable, names.EnvUndeliverableRetry,
			names.EnvSlotQueue, names.EnvOverflowQueue, names.EnvCoalesceQueue, names.EnvEnvironment,
		}},
		{name: "breaker", read: func(l config.Lookup) error { _, err := config.ForBreaker(l); return err }, want: []string{
			names.EnvTable, names.EnvRetryQueue, names.EnvReplayQueue, names.EnvSlotQueue, names.EnvOverflowQueue, names.EnvCoalesceQueue, names.EnvDeadLettersQueue, names.EnvCircuitsQueue,
			names.EnvEnvironment, names.EnvLiveQueue, names.EnvTopic, names.EnvRetention,
		}},
		{name: "replay", read: func(l config.Lookup) error { _, err := config.ForReplay(l); return err }, want: []string{
			names.EnvTable, names.EnvReplayQueue, names.EnvReplayJobsQueue,
		}},
		{name: "authorize", read: func(l config.Lookup) error { _, err := config.ForAuthorize(l); return err }, want: []string{names.EnvTable, names.EnvAdminKeySecret}},
		{name: "sender", read: func(l config.Lookup) error { _, err := config.ForSender(l); return err }, want: []string{names.EnvEgress}},
		{name: "export", read: func(l config.Lookup) error { _, err := config.ForExport(l); return err }, want: []string{names.EnvEnvironment, names.EnvTraces}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			err := tt.read(lookup(nil))
			if err == nil {
				t.Fatal("got no error for an empty environment")
			}
			for _, name := range tt.want {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%q does not name %s", err, name)
				}
			}
		})
	}
}

func TestForIngest_Retention(t *testing.T) {
	t.Parallel()

	if names.MinRetention != hook.MinRetention {
		t.Errorf("MinRetention = %v; want hook.MinRetention, %v", names.MinRetention, hook.MinRetention)
	}

	tests := []struct {
		value string
		want  time.Duration
		ok    bool
	}{
		{value: "2160h", want: 2160 * time.Hour, ok: true},
		{value: "672h", want: 672 * time.Hour, ok: true},
		{value: "671h59m59s", want: 0, ok: false},
		{value: "0s", want: 0, ok: false},
		{value: "-1h", want: 0, ok: false},
		{value: "90", want: 0, ok: false},
	}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			t.Parallel()

			got, err := config.ForIngest(lookup(map[string]string{
				names.EnvEnvironment: "prod", names.EnvTable: "t", names.EnvLiveQueue: "q", names.EnvCoalesceQueue: "c", names.EnvEventsQueue: "e", names.EnvRejectsQueue: "r", names.EnvTenantPath: "p", names.EnvRetention: tt.value, names.EnvValidation: "off",
			}))
			if (err == nil) != tt.ok || tt.ok && got.Retention != tt.want {
				t.Errorf("ForIngest(%s) = %v, %v; want %v, ok: %t", tt.value, got.Retention, err, tt.want, tt.ok)
			}
		})
	}
}

func TestForPortal(t *testing.T) {
	t.Parallel()

	got, err := config.ForPortal(lookup(map[string]string{
		names.EnvPortalName: "Acme", names.EnvPortalAccent: "#3b5bdb", names.EnvPortalLogo: "https://a.example/logo.svg", names.EnvPortalEmbedders: "https://a.example,https://b.example",
	}))
	want := config.Portal{Name: "Acme", Accent: "#3b5bdb", Logo: "https://a.example/logo.svg", Embedders: []string{"https://a.example", "https://b.example"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ForPortal() = %+v, %v; want %+v", got, err, want)
	}
	if got, err := config.ForPortal(lookup(nil)); err != nil || !reflect.DeepEqual(got, config.Portal{}) {
		t.Errorf("ForPortal() without settings = %+v, %v; want none", got, err)
	}
	_, err = config.ForPortal(lookup(map[string]string{names.EnvPortalAccent: "red", names.EnvPortalLogo: "logo.svg", names.EnvPortalEmbedders: "https://a.example,*"}))
	for _, part := range []string{names.EnvPortalAccent, names.EnvPortalLogo, names.EnvPortalEmbedders, `"*"`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("ForPortal() of faults = %v; want %s named", err, part)
		}
	}
}

func TestForSignIn(t *testing.T) {
	t.Parallel()

	got, err := config.ForSignIn(lookup(map[string]string{
		names.EnvOIDCIssuer: "https://id.example.com/", names.EnvOIDCClientID: "surehook", names.EnvOIDCRoles: "operator=ops", names.EnvOIDCClaim: "roles",
		names.EnvOIDCScopes: "openid groups", names.EnvOIDCOrigins: "https://a.example,https://b.example",
	}))
	want := names.SignIn{
		Issuer: "https://id.example.com/", ClientID: "surehook", Roles: "operator=ops", Claim: "roles", Scopes: "openid groups",
		Origins: []string{"https://a.example", "https://b.example"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ForSignIn() = %+v, %v; want %+v", got, err, want)
	}
	if got, err := config.ForSignIn(lookup(nil)); err != nil || !reflect.DeepEqual(got, names.SignIn{}) {
		t.Errorf("ForSignIn() without settings = %+v, %v; want none", got, err)
	}
	_, err = config.ForSignIn(lookup(map[string]string{names.EnvOIDCIssuer: "id.example.com", names.EnvOIDCRoles: "admin=ops"}))
	for _, part := range []string{"SUREHOOK_OIDC_", `issuer "id.example.com"`, "client id", `"admin=ops"`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("ForSignIn() of faults = %v; want %s named", err, part)
		}
	}
}

// One wrong setting must not stop all requests: without a whole sign-in, API keys alone open the API.
func TestForAuthorize_halfSignIn(t *testing.T) {
	t.Parallel()

	env := map[string]string{names.EnvTable: "t", names.EnvAdminKeySecret: "s", names.EnvOIDCIssuer: "https://id.example.com"}
	for _, wrong := range []map[string]string{
		{},
		{names.EnvOIDCClientID: "surehook", names.EnvOIDCRoles: "operators=ops"},
		{names.EnvOIDCClientID: "surehook", names.EnvOIDCRoles: "operator=ops", names.EnvOIDCOrigins: "https://token.example.com/"},
	} {
		env := maps.Clone(env)
		maps.Copy(env, wrong)
		got, err := config.ForAuthorize(lookup(env))
		if err != nil || !reflect.DeepEqual(got.SignIn, names.SignIn{}) || len(got.IgnoredSettings()) == 0 {
			t.Errorf("ForAuthorize(%v) = %+v, %v; want no sign-in, and the setting ignored", wrong, got, err)
		}
	}
}

func TestForIngest_validation(t *testing.T) {
	t.Parallel()

	for value, valid := range map[string]bool{"off": true, "warn": true, "reject": true, "Reject": false, "on": false} {
		env := map[string]string{names.EnvEnvironment: "prod", names.EnvTable: "t", names.EnvLiveQueue: "q", names.EnvCoalesceQueue: "c", names.EnvEventsQueue: "e", names.EnvRejectsQueue: "r", names.EnvTenantPath: "p", names.EnvRetention: "2160h", names.EnvValidation: value}
		got, err := config.ForIngest(lookup(env))
		want, ignored := value, 0
		if !valid {
			want, ignored = names.ValidationOff, 1
		}
		if err != nil || got.Validation != want || len(got.IgnoredSettings()) != ignored {
			t.Errorf("ForIngest(%s) = %+v, %v; want %s, and %d settings ignored", value, got, err, want, ignored)
		}
		alone, err := config.ForValidation(lookup(env))
		if (err == nil) != valid || valid && alone != value {
			t.Errorf("ForValidation(%s) = %s, %v; want valid: %t", value, alone, err, valid)
		}
	}
	if alone, err := config.ForValidation(lookup(nil)); err != nil || alone != names.ValidationOff {
		t.Errorf("ForValidation() = %s, %v; want off", alone, err)
	}
}

func TestFor_Places(t *testing.T) {
	t.Parallel()

	env := maps.Clone(deliverEnv)
	env[names.EnvReplayQueue], env[names.EnvReplayJobsQueue] = "https://sqs/replay", "https://sqs/replay-jobs"
	env[names.EnvUndeliverable] = "https://sqs/undeliverable"
	env[names.EnvUndeliverableRetry] = "https://sqs/undeliverable-retry"
	env[names.EnvSenderRegions], env[names.EnvFixedAddresses] = "us-east-1,ap-southeast-2", "203.0.113.10,203.0.113.11"
	regions := []string{"us-east-1", "ap-southeast-2"}
	if got, err := config.ForDeliver(lookup(env)); err != nil || !slices.Equal(got.SenderRegions, regions) {
		t.Errorf("ForDeliver().SenderRegions = %v, %v; want %v", got.SenderRegions, err, regions)
	}
	addresses := []netip.Addr{netip.MustParseAddr("203.0.113.10"), netip.MustParseAddr("203.0.113.11")}
	if got, err := config.ForManage(lookup(env)); err != nil || !slices.Equal(got.SenderRegions, regions) || !slices.Equal(got.Addresses, addresses) {
		t.Errorf("ForManage() = %v, %v, %v; want %v and %v", got.SenderRegions, got.Addresses, err, regions, addresses)
	}
	env[names.EnvFixedAddresses] = "203.0.113.10,nat"
	if _, err := config.ForManage(lookup(env)); err == nil || !strings.Contains(err.Error(), names.EnvFixedAddresses) {
		t.Errorf("ForManage() = %v; want an error that names %s", err, names.EnvFixedAddresses)
	}
}

func TestFor_Destinations(t *testing.T) {
	t.Parallel()

	env := maps.Clone(deliverEnv)
	env[names.EnvReplayQueue], env[names.EnvReplayJobsQueue] = "https://sqs/replay", "https://sqs/replay-jobs"
	env[names.EnvUndeliverable] = "https://sqs/undeliverable"
	env[names.EnvUndeliverableRetry] = "https://sqs/undeliverable-retry"
	env[names.EnvDestinations], env[names.EnvAccount] = "/surehook/", "111122223333"
	if got, err := config.ForDeliver(lookup(env)); err != nil || got.Destinations != (config.Destinations{RolePath: "/surehook/", Account: "111122223333"}) {
		t.Errorf("ForDeliver().Destinations = %+v, %v", got.Destinations, err)
	}
	if _, err := config.ForManage(lookup(env)); err == nil || !strings.Contains(err.Error(), names.EnvPrincipal) {
		t.Errorf("ForManage() = %v; want an error that names %s", err, names.EnvPrincipal)
	}
	env[names.EnvPrincipal] = "arn"
	if got, err := config.ForManage(lookup(env)); err != nil || got.Destinations.Principal != "arn" {
		t.Errorf("ForManage().Destinations = %+v, %v", got.Destinations, err)
	}
	delete(env, names.EnvAccount)
	if _, err := config.ForDeliver(lookup(env)); err == nil || !strings.Contains(err.Error(), names.EnvAccount) {
		t.Errorf("ForDeliver() = %v; want an error that names %s", err, names.EnvAccount)
	}
}

func TestForManage_Envelope(t *testing.T) {
	t.Parallel()

	env := maps.Clone(deliverEnv)
	env[names.EnvReplayQueue], env[names.EnvReplayJobsQueue] = "https://sqs/replay", "https://sqs/replay-jobs"
	env[names.EnvUndeliverable], env[names.EnvUndeliverableRetry] = "https://sqs/undeliverable", "https://sqs/undeliverable-retry"
	for _, want := range []string{names.EnvelopeRaw, names.EnvelopeStandard} {
		env[names.EnvEnvelope] = want
		if got, err := config.ForManage(lookup(env)); err != nil || got.Envelope != want {
			t.Errorf("ForManage().Envelope = %s, %v; want %s", got.Envelope, err, want)
		}
	}
	env[names.EnvEnvelope] = ""
	if _, err := config.ForManage(lookup(env)); err == nil || !strings.Contains(err.Error(), names.EnvEnvelope) {
		t.Errorf("ForManage() without an envelope = %v; want an error that names %s", err, names.EnvEnvelope)
	}
	for _, value := range []string{"thin", "Standard"} {
		env[names.EnvEnvelope] = value
		got, err := config.ForManage(lookup(env))
		if err != nil || got.Envelope != names.EnvelopeStandard || !strings.Contains(errors.Join(got.IgnoredSettings()...).Error(), names.EnvEnvelope) {
			t.Errorf("ForManage(%q) = %s, %v and ignores %v; want standard, and the variable ignored", value, got.Envelope, err, got.IgnoredSettings())
		}
	}
}

func TestForManage_EndpointsPerHost(t *testing.T) {
	t.Parallel()

	env := maps.Clone(deliverEnv)
	env[names.EnvReplayQueue], env[names.EnvReplayJobsQueue] = "https://sqs/replay", "https://sqs/replay-jobs"
	env[names.EnvUndeliverable], env[names.EnvUndeliverableRetry] = "https://sqs/undeliverable", "https://sqs/undeliverable-retry"
	for value, want := range map[string]int{"": 0, "1": 1, "20": 20} {
		env[names.EnvEndpointsPerHost] = value
		if got, err := config.ForManage(lookup(env)); err != nil || got.EndpointsPerHost != want {
			t.Errorf("ForManage(%q).EndpointsPerHost = %d, %v; want %d", value, got.EndpointsPerHost, err, want)
		}
	}
	for _, value := range []string{"0", "-1", "many"} {
		env[names.EnvEndpointsPerHost] = value
		got, err := config.ForManage(lookup(env))
		if err != nil || got.EndpointsPerHost != 0 || !strings.Contains(errors.Join(got.IgnoredSettings()...).Error(), names.EnvEndpointsPerHost) {
			t.Errorf("ForManage(%q) = %d, %v and ignores %v; want no limit, and the variable ignored", value, got.EndpointsPerHost, err, got.IgnoredSettings())
		}
	}
}

func TestForOwnership(t *testing.T) {
	t.Parallel()

	for value, valid := range map[string]bool{"": true, "challenge": true, "Challenge": false, "dns": false} {
		got, err := config.ForOwnership(lookup(map[string]string{names.EnvOwnership: value}))
		if (err == nil) != valid || valid && got != value || !valid && !strings.Contains(err.Error(), names.EnvOwnership) {
			t.Errorf("ForOwnership(%q) = %q, %v; want valid: %t", value, got, err, valid)
		}
	}
}

// The sender knows its own addresses alone; each message names the hosts of the API.
func TestForSender(t *testing.T) {
	t.Parallel()

	got, err := config.ForSender(lookup(map[string]string{names.EnvEgress: names.EgressPublic, names.EnvRuntimeAPI: "127.0.0.1:9001"}))
	if want := (config.Sender{Egress: config.Egress{RuntimeAPI: netip.MustParseAddrPort("127.0.0.1:9001")}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ForSender() = %+v, %v; want %+v", got, err, want)
	}
}
