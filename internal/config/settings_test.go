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

// environment has what every function needs.
var environment = map[string]string{
	"SUREHOOK_TABLE":                   "table",
	"SUREHOOK_KMS_KEY_ARN":             "arn:aws:kms:eu-west-1:111122223333:key/k",
	"SUREHOOK_LIVE_QUEUE_URL":          "https://sqs/live",
	"SUREHOOK_EVENTS_QUEUE_URL":        "https://sqs/events",
	"SUREHOOK_ENVELOPE":                "standard",
	"SUREHOOK_REJECTS_QUEUE_URL":       "https://sqs/rejects",
	"SUREHOOK_TENANT_PATH":             "detail.tenant",
	"SUREHOOK_RETRY_QUEUE_URL":         "https://sqs/retry",
	"SUREHOOK_RETRY_QUEUE_ARN":         "arn:aws:sqs:eu-west-1:111122223333:retry",
	"SUREHOOK_SLOT_QUEUE_URL":          "https://sqs/slot",
	"SUREHOOK_OVERFLOW_QUEUE_URL":      "https://sqs/overflow",
	"SUREHOOK_COALESCE_QUEUE_URL":      "https://sqs/coalesce",
	"SUREHOOK_TENANT_SHARES":           "5",
	"SUREHOOK_DEAD_LETTERS_URL":        "https://sqs/dead-letters",
	"SUREHOOK_CIRCUITS_QUEUE_URL":      "https://sqs/circuits",
	"SUREHOOK_UNDELIVERABLE_RETRY_ARN": "arn:aws:sqs:eu-west-1:111122223333:undeliverable-retry",
	"SUREHOOK_SCHEDULE_GROUP":          "group",
	"SUREHOOK_SCHEDULE_ROLE_ARN":       "arn:aws:iam::111122223333:role/r",
	"SUREHOOK_EGRESS":                  names.EgressPublic,
	"SUREHOOK_API_HOSTS":               "a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com,hooks.example.com",
	"SUREHOOK_ENVIRONMENT":             "prod",
	"SUREHOOK_TOPIC_ARN":               "arn:aws:sns:eu-west-1:111122223333:topic",
	"SUREHOOK_RETENTION":               "2160h",
	"AWS_LAMBDA_RUNTIME_API":           "127.0.0.1:9001",
	"SUREHOOK_REPLAY_QUEUE_URL":        "https://sqs/replay",
	"SUREHOOK_REPLAY_JOBS_URL":         "https://sqs/replay-jobs",
	"SUREHOOK_UNDELIVERABLE_URL":       "https://sqs/undeliverable",
	"SUREHOOK_UNDELIVERABLE_RETRY_URL": "https://sqs/undeliverable-retry",
	"SUREHOOK_ADMIN_KEY_SECRET_ARN":    "arn:aws:secretsmanager:eu-west-1:111122223333:secret:s",
	"SUREHOOK_TRACES":                  names.TracesXRay,
	"SUREHOOK_VALIDATION":              "off",
}

func TestRead(t *testing.T) {
	t.Parallel()

	got, ignored, err := config.Read("deliver", lookup(environment))
	want := config.Settings{
		Choices:     config.Choices{Retention: 90 * 24 * time.Hour, Egress: names.EgressPublic},
		Environment: "prod", Table: "table", KeyARN: "arn:aws:kms:eu-west-1:111122223333:key/k",
		Queues: names.Queues[string]{
			Live: "https://sqs/live", Retry: "https://sqs/retry", Slot: "https://sqs/slot", Overflow: "https://sqs/overflow", Coalesce: "https://sqs/coalesce",
			DeadLetters: "https://sqs/dead-letters", Circuits: "https://sqs/circuits",
		},
		RetryQueueARN: "arn:aws:sqs:eu-west-1:111122223333:retry", TenantShares: 5,
		UndeliverableRetryARN: "arn:aws:sqs:eu-west-1:111122223333:undeliverable-retry",
		ScheduleGroup:         "group", ScheduleRoleARN: "arn:aws:iam::111122223333:role/r",
		TopicARN:   "arn:aws:sns:eu-west-1:111122223333:topic",
		RuntimeAPI: netip.MustParseAddrPort("127.0.0.1:9001"),
		APIHosts:   []string{"a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com", "hooks.example.com"},
	}
	if err != nil || len(ignored) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("Read(deliver) = %+v, %v, %v; want %+v", got, ignored, err, want)
	}
}

// What infrastructure writes is what the function reads.
func TestSettings_Variables(t *testing.T) {
	t.Parallel()

	for _, function := range functions {
		read, _, err := config.Read(function, lookup(environment))
		if err != nil {
			t.Fatalf("Read(%s) = %v", function, err)
		}
		written := read.Variables(function)
		again, ignored, err := config.Read(function, func(name string) (string, bool) {
			if name == "AWS_LAMBDA_RUNTIME_API" { // of Lambda
				return environment[name], true
			}
			value, ok := written[name]
			return value, ok
		})
		if err != nil || len(ignored) > 0 || !reflect.DeepEqual(again, read) {
			t.Errorf("%s reads %+v, %v, %v after Variables(); want %+v", function, again, ignored, err, read)
		}
	}
}

var functions = []string{"ingest", "deliver", "breaker", "replay", "manage", "authorize", "sender", "export"}

// Each required variable of a function is named if it is missing, and any one of them is needed.
func TestRead_missing(t *testing.T) {
	t.Parallel()

	optional := []string{"AWS_LAMBDA_RUNTIME_API", "SUREHOOK_VALIDATION", "SUREHOOK_ENVELOPE"}
	for _, function := range functions {
		read, _, _ := config.Read(function, lookup(environment))
		_, _, err := config.Read(function, lookup(nil))
		if err == nil {
			t.Fatalf("Read(%s) of an empty environment = nil; want an error", function)
		}
		for name := range read.Variables(function) {
			if named := strings.Contains(err.Error(), name); named == slices.Contains(optional, name) {
				t.Errorf("Read(%s) of an empty environment = %v; want %s named: %t", function, err, name, !named)
			}
			env := maps.Clone(environment)
			delete(env, name)
			if _, _, err := config.Read(function, lookup(env)); (err == nil) != slices.Contains(optional, name) {
				t.Errorf("Read(%s) without %s = %v", function, name, err)
			}
		}
	}
}

// Each row changes one variable of a working environment.
func TestRead_values(t *testing.T) {
	t.Parallel()

	if names.MinRetention != hook.MinRetention {
		t.Errorf("MinRetention = %v; want hook.MinRetention, %v", names.MinRetention, hook.MinRetention)
	}
	const good, ignored, fault = "good", "ignored", "fault"
	get := map[string]func(s config.Settings) any{
		"SUREHOOK_EGRESS":             func(s config.Settings) any { return s.Egress },
		"SUREHOOK_TENANT_SHARES":      func(s config.Settings) any { return s.TenantShares },
		"SUREHOOK_RETENTION":          func(s config.Settings) any { return s.Retention },
		"SUREHOOK_VALIDATION":         func(s config.Settings) any { return s.Validation },
		"SUREHOOK_OWNERSHIP":          func(s config.Settings) any { return s.Ownership },
		"SUREHOOK_ENVELOPE":           func(s config.Settings) any { return s.Envelope },
		"SUREHOOK_ENDPOINTS_PER_HOST": func(s config.Settings) any { return s.EndpointsPerHost },
		"SUREHOOK_PORTAL_ACCENT":      func(s config.Settings) any { return s.Portal.Accent },
		"SUREHOOK_PORTAL_LOGO":        func(s config.Settings) any { return s.Portal.Logo },
		"SUREHOOK_PORTAL_EMBEDDERS":   func(s config.Settings) any { return s.Portal.Embedders },
		"SUREHOOK_SENDER_REGIONS":     func(s config.Settings) any { return s.Senders },
		"SUREHOOK_PRIVATE_ALLOW":      func(s config.Settings) any { return s.Private },
		"SUREHOOK_PRIVATE_CA":         func(s config.Settings) any { return s.PrivateCA },
		"SUREHOOK_FIXED_ADDRESSES":    func(s config.Settings) any { return s.Addresses },
		"SUREHOOK_SIGNATURES":         func(s config.Settings) any { return s.Signatures },
	}
	for _, tt := range []struct {
		function, name, value, verdict string
		want                           any // nil with a fault
	}{
		{"deliver", "SUREHOOK_EGRESS", names.EgressLoopback, good, names.EgressLoopback},
		{"deliver", "SUREHOOK_EGRESS", "everything", fault, nil},
		{"deliver", "SUREHOOK_TENANT_SHARES", "1", good, 1},
		{"deliver", "SUREHOOK_TENANT_SHARES", "0", fault, nil},
		{"deliver", "SUREHOOK_TENANT_SHARES", "-1", fault, nil},
		{"deliver", "SUREHOOK_TENANT_SHARES", "2.5", fault, nil},
		{"ingest", "SUREHOOK_RETENTION", "672h", good, 672 * time.Hour},
		{"ingest", "SUREHOOK_RETENTION", "671h59m59s", fault, nil},
		{"ingest", "SUREHOOK_RETENTION", "90", fault, nil},
		{"ingest", "SUREHOOK_RETENTION", "-1h", fault, nil},
		{"ingest", "SUREHOOK_VALIDATION", "warn", good, "warn"},
		{"ingest", "SUREHOOK_VALIDATION", "", good, ""},
		{"ingest", "SUREHOOK_VALIDATION", "Reject", ignored, "off"},
		{"dev", "SUREHOOK_VALIDATION", "on", ignored, "off"},
		{"dev", "SUREHOOK_OWNERSHIP", "challenge", good, "challenge"},
		{"manage", "SUREHOOK_OWNERSHIP", "", good, ""},
		{"manage", "SUREHOOK_OWNERSHIP", "dns", ignored, "challenge"}, // who names another proof wants one
		{"manage", "SUREHOOK_ENVELOPE", "raw", good, "raw"},
		{"manage", "SUREHOOK_ENVELOPE", "thin", ignored, "standard"},
		{"manage", "SUREHOOK_ENDPOINTS_PER_HOST", "20", good, 20},
		{"manage", "SUREHOOK_ENDPOINTS_PER_HOST", "", good, 0},
		{"manage", "SUREHOOK_ENDPOINTS_PER_HOST", "0", ignored, 0},
		{"manage", "SUREHOOK_ENDPOINTS_PER_HOST", "many", ignored, 0},
		{"manage", "SUREHOOK_PORTAL_ACCENT", "#3b5bdb", good, "#3b5bdb"},
		{"dev", "SUREHOOK_PORTAL_ACCENT", "red", ignored, ""},
		{"manage", "SUREHOOK_PORTAL_LOGO", "https://a.example/logo.svg", good, "https://a.example/logo.svg"},
		{"manage", "SUREHOOK_PORTAL_LOGO", "logo.svg", ignored, ""},
		{"manage", "SUREHOOK_PORTAL_EMBEDDERS", "https://a.example,https://b.example", good, []string{"https://a.example", "https://b.example"}},
		{"manage", "SUREHOOK_PORTAL_EMBEDDERS", "https://a.example,*", ignored, []string{"https://a.example"}},
		{"manage", "SUREHOOK_PORTAL_EMBEDDERS", "*", ignored, []string(nil)},
		{"deliver", "SUREHOOK_SENDER_REGIONS", "us-east-1,ap-southeast-2", good, []string{"us-east-1", "ap-southeast-2"}},
		{"manage", "SUREHOOK_FIXED_ADDRESSES", "203.0.113.10,203.0.113.11", good, []netip.Addr{netip.MustParseAddr("203.0.113.10"), netip.MustParseAddr("203.0.113.11")}},
		{"manage", "SUREHOOK_PRIVATE_ALLOW", "[]", good, "[]"},
		{"sender", "SUREHOOK_PRIVATE_ALLOW", "[]", good, "[]"},
		{"sender", "SUREHOOK_PRIVATE_CA", "pem", good, "pem"},
		{"manage", "SUREHOOK_FIXED_ADDRESSES", "203.0.113.10,nat", fault, nil},
		{"manage", "SUREHOOK_SIGNATURES", "github,slack", good, []string{"github", "slack"}},
	} {
		t.Run(tt.function+" "+tt.name+" "+tt.value, func(t *testing.T) {
			t.Parallel()

			env := maps.Clone(environment)
			env[tt.name] = tt.value
			s, faults, err := config.Read(tt.function, lookup(env))
			verdict := good
			switch {
			case err != nil:
				verdict = fault
			case len(faults) > 0:
				verdict = ignored
			}
			if verdict != tt.verdict {
				t.Fatalf("Read() = %v, %v: %s; want %s", faults, err, verdict, tt.verdict)
			}
			if all := errors.Join(append(faults, err)...); verdict != good && !strings.Contains(all.Error(), tt.name) {
				t.Errorf("Read() = %v; want %s named", all, tt.name)
			}
			if tt.want != nil && !reflect.DeepEqual(get[tt.name](s), tt.want) {
				t.Errorf("Read() has %v; want %v", get[tt.name](s), tt.want)
			}
			if found := errors.Join(s.Faults()...); found != nil {
				t.Errorf("Faults() of what was read = %v; want none", found)
			}
		})
	}
}

// Settings that only make sense together.
func TestRead_together(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name, function string
		env            map[string]string
		want           string // named by the error; empty: none
	}{
		{"a host needs loopback", "deliver", map[string]string{"SUREHOOK_EGRESS_HOST": "h"}, "SUREHOOK_EGRESS_HOST"},
		{"a host with loopback", "deliver", map[string]string{"SUREHOOK_EGRESS_HOST": "h", "SUREHOOK_EGRESS": names.EgressLoopback}, ""},
		{"destinations need the account", "deliver", map[string]string{"SUREHOOK_DESTINATIONS": "/surehook/"}, "SUREHOOK_ACCOUNT"},
		{"deliver needs no principal", "deliver", map[string]string{"SUREHOOK_DESTINATIONS": "/surehook/", "SUREHOOK_ACCOUNT": "1"}, ""},
		{"manage needs the principal", "manage", map[string]string{"SUREHOOK_DESTINATIONS": "/surehook/", "SUREHOOK_ACCOUNT": "1"}, "SUREHOOK_PRINCIPAL"},
		{"manage with the principal", "manage", map[string]string{"SUREHOOK_DESTINATIONS": "/surehook/", "SUREHOOK_ACCOUNT": "1", "SUREHOOK_PRINCIPAL": "arn"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			env := maps.Clone(environment)
			maps.Copy(env, tt.env)
			_, _, err := config.Read(tt.function, lookup(env))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read(%s) = %v; want an error that names %q", tt.function, err, tt.want)
			}
		})
	}
}

// Without a whole sign-in, API keys alone open the API.
func TestRead_signIn(t *testing.T) {
	t.Parallel()

	whole := map[string]string{
		"SUREHOOK_OIDC_ISSUER": "https://id.example.com/", "SUREHOOK_OIDC_CLIENT_ID": "surehook", "SUREHOOK_OIDC_ROLES": "operator=ops", "SUREHOOK_OIDC_CLAIM": "roles",
		"SUREHOOK_OIDC_SCOPES": "openid groups", "SUREHOOK_OIDC_ORIGINS": "https://a.example,https://b.example",
	}
	env := maps.Clone(environment)
	maps.Copy(env, whole)
	got, ignored, err := config.Read("authorize", lookup(env))
	want := names.SignIn{
		Issuer: "https://id.example.com/", ClientID: "surehook", Roles: "operator=ops", Claim: "roles", Scopes: "openid groups",
		Origins: []string{"https://a.example", "https://b.example"},
	}
	if err != nil || len(ignored) > 0 || !reflect.DeepEqual(got.SignIn, want) {
		t.Errorf("Read() = %+v, %v, %v; want %+v", got.SignIn, ignored, err, want)
	}
	for name, wrong := range map[string]string{
		"SUREHOOK_OIDC_ISSUER": "id.example.com", "SUREHOOK_OIDC_CLIENT_ID": "", "SUREHOOK_OIDC_ROLES": "operators=ops", "SUREHOOK_OIDC_ORIGINS": "https://token.example.com/",
	} {
		env := maps.Clone(env)
		env[name] = wrong
		got, ignored, err := config.Read("authorize", lookup(env))
		if err != nil || !reflect.DeepEqual(got.SignIn, names.SignIn{}) || !strings.Contains(errors.Join(ignored...).Error(), "SUREHOOK_OIDC_") {
			t.Errorf("Read() with %s=%q = %+v, %v, %v; want no sign-in, and the setting ignored", name, wrong, got.SignIn, ignored, err)
		}
	}
}
