package config_test

import (
	"errors"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
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
	names.EnvReplayQueue:           "https://sqs/replay",
	names.EnvReplayJobsQueue:       "https://sqs/replay-jobs",
	names.EnvUndeliverable:         "https://sqs/undeliverable",
	names.EnvUndeliverableRetry:    "https://sqs/undeliverable-retry",
	names.EnvAdminKeySecret:        "arn:aws:secretsmanager:eu-west-1:111122223333:secret:s",
	names.EnvTraces:                names.TracesXRay,
	names.EnvValidation:            "off",
}

func TestRead(t *testing.T) {
	t.Parallel()

	got, ignored, err := config.Read("deliver", lookup(environment))
	want := config.Settings{
		Environment: "prod", Table: "table", KeyARN: "arn:aws:kms:eu-west-1:111122223333:key/k",
		Queues: config.Queues{
			Live: "https://sqs/live", Retry: "https://sqs/retry", Slot: "https://sqs/slot", Overflow: "https://sqs/overflow", Coalesce: "https://sqs/coalesce",
			DeadLetters: "https://sqs/dead-letters", Circuits: "https://sqs/circuits",
		},
		RetryQueueARN: "arn:aws:sqs:eu-west-1:111122223333:retry", TenantPlaces: 5,
		UndeliverableRetryARN: "arn:aws:sqs:eu-west-1:111122223333:undeliverable-retry",
		ScheduleGroup:         "group", ScheduleRoleARN: "arn:aws:iam::111122223333:role/r",
		TopicARN: "arn:aws:sns:eu-west-1:111122223333:topic", Retention: 90 * 24 * time.Hour,
		Egress: names.EgressPublic, RuntimeAPI: netip.MustParseAddrPort("127.0.0.1:9001"),
		APIHosts: []string{"a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com", "hooks.example.com"},
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
			if name == names.EnvRuntimeAPI { // of Lambda
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

	optional := []string{names.EnvRuntimeAPI, names.EnvValidation, names.EnvEnvelope}
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

// A function gets no variable that its code does not read: the settings of its main.go, and those of
// the wiring that it calls.
func TestRead_onlyWhatTheCodeReads(t *testing.T) {
	t.Parallel()

	for _, function := range functions {
		used := fieldsOf(t, function)
		read, _, err := config.Read(function, lookup(everything))
		if err != nil {
			t.Fatalf("Read(%s) = %v", function, err)
		}
		given := map[string]bool{}
		each(reflect.ValueOf(read), "", func(path string, v reflect.Value) {
			if !v.IsZero() {
				given[path] = true
			}
		})
		for path := range used {
			if function == "sender" && path == "APIHosts" {
				continue // each message names the hosts
			}
			if !given[path] && !hasBelow(given, path) {
				t.Errorf("%s reads cfg.%s, which it does not get", function, path)
			}
		}
		for path := range given {
			if !used[path] && !hasAbove(used, path) && path != "Environment" { // of the metrics about its start
				t.Errorf("%s gets %s, which it does not read", function, path)
			}
		}
	}
}

// everything is an environment with every variable.
var everything = func() map[string]string {
	env := maps.Clone(environment)
	maps.Copy(env, map[string]string{
		names.EnvEgress: names.EgressLoopback, names.EnvEgressHost: "h", names.EnvPublicURL: "https://hooks.example.com", names.EnvSenderRegions: "us-east-1",
		names.EnvFixedAddresses: "203.0.113.10", names.EnvDestinations: "/surehook/", names.EnvAccount: "111122223333", names.EnvPrincipal: "arn",
		names.EnvOwnership: names.OwnershipChallenge, names.EnvEndpointsPerHost: "2", names.EnvSignatureProfiles: "{}", names.EnvSignatures: "standard",
		names.EnvPortalName: "Acme", names.EnvOIDCIssuer: "https://id.example.com", names.EnvOIDCClientID: "surehook", names.EnvOIDCRoles: "operator=ops",
	})
	return env
}()

// each calls f with the settings and their paths, such as Queues.Live.
func each(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	for i := range v.NumField() {
		name := strings.TrimPrefix(path+"."+v.Type().Field(i).Name, ".")
		if name == "Queues" {
			each(v.Field(i), name, f)
			continue
		}
		f(name, v.Field(i))
	}
}

func hasBelow(all map[string]bool, path string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(one string) bool { return strings.HasPrefix(one, path+".") })
}

func hasAbove(all map[string]bool, path string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(one string) bool { return strings.HasPrefix(path, one+".") })
}

var (
	field  = regexp.MustCompile(`\bcfg\.((?:Queues\.)?[A-Z]\w*)`)
	whole  = regexp.MustCompile(`\bq := cfg\.Queues\b`)
	short  = regexp.MustCompile(`\bq\.([A-Z]\w*)`)
	called = regexp.MustCompile(`\bwire\.([A-Z]\w*)\(cfg\b`)
)

// fieldsOf returns the settings that the function's code names.
func fieldsOf(t *testing.T, function string) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	text := sources(t, "../../functions/"+function)
	wiring := sources(t, "../../functions/internal/wire")
	for names := []string{""}; len(names) > 0; {
		if names[0] != "" {
			_, body, ok := strings.Cut(wiring, "\nfunc "+names[0]+"(")
			if !ok {
				t.Fatalf("package wire has no function %s", names[0])
			}
			text, _, _ = strings.Cut(body, "\n}\n")
		}
		for _, found := range field.FindAllStringSubmatch(text, -1) {
			used[found[1]] = true
		}
		if whole.MatchString(text) {
			delete(used, "Queues")
			for _, found := range short.FindAllStringSubmatch(text, -1) {
				used["Queues."+found[1]] = true
			}
		}
		for _, found := range called.FindAllStringSubmatch(text+strings.ReplaceAll(text, "Acceptor(cfg", "wire.Acceptor(cfg"), -1) {
			names = append(names, found[1])
		}
		names = names[1:]
	}
	return used
}

func sources(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %d files", folder, err, len(files))
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			all.Write(text)
		}
	}
	return all.String()
}

// Each row changes one variable of a working environment.
func TestRead_values(t *testing.T) {
	t.Parallel()

	if names.MinRetention != hook.MinRetention {
		t.Errorf("MinRetention = %v; want hook.MinRetention, %v", names.MinRetention, hook.MinRetention)
	}
	const good, ignored, fault = "good", "ignored", "fault"
	get := map[string]func(s config.Settings) any{
		names.EnvEgress:           func(s config.Settings) any { return s.Egress },
		names.EnvTenantPlaces:     func(s config.Settings) any { return s.TenantPlaces },
		names.EnvRetention:        func(s config.Settings) any { return s.Retention },
		names.EnvValidation:       func(s config.Settings) any { return s.Validation },
		names.EnvOwnership:        func(s config.Settings) any { return s.Ownership },
		names.EnvEnvelope:         func(s config.Settings) any { return s.Envelope },
		names.EnvEndpointsPerHost: func(s config.Settings) any { return s.EndpointsPerHost },
		names.EnvPortalAccent:     func(s config.Settings) any { return s.Portal.Accent },
		names.EnvPortalLogo:       func(s config.Settings) any { return s.Portal.Logo },
		names.EnvPortalEmbedders:  func(s config.Settings) any { return s.Portal.Embedders },
		names.EnvSenderRegions:    func(s config.Settings) any { return s.SenderRegions },
		names.EnvFixedAddresses:   func(s config.Settings) any { return s.Addresses },
		names.EnvSignatures:       func(s config.Settings) any { return s.NewProfiles },
	}
	for _, tt := range []struct {
		function, name, value, verdict string
		want                           any // nil with a fault
	}{
		{"deliver", names.EnvEgress, names.EgressLoopback, good, names.EgressLoopback},
		{"deliver", names.EnvEgress, "everything", fault, nil},
		{"deliver", names.EnvTenantPlaces, "1", good, 1},
		{"deliver", names.EnvTenantPlaces, "0", fault, nil},
		{"deliver", names.EnvTenantPlaces, "-1", fault, nil},
		{"deliver", names.EnvTenantPlaces, "2.5", fault, nil},
		{"ingest", names.EnvRetention, "672h", good, 672 * time.Hour},
		{"ingest", names.EnvRetention, "671h59m59s", fault, nil},
		{"ingest", names.EnvRetention, "90", fault, nil},
		{"ingest", names.EnvRetention, "-1h", fault, nil},
		{"ingest", names.EnvValidation, "warn", good, "warn"},
		{"ingest", names.EnvValidation, "", good, ""},
		{"ingest", names.EnvValidation, "Reject", ignored, "off"},
		{"dev", names.EnvValidation, "on", ignored, "off"},
		{"dev", names.EnvOwnership, "challenge", good, "challenge"},
		{"manage", names.EnvOwnership, "", good, ""},
		{"manage", names.EnvOwnership, "dns", ignored, "challenge"}, // who names another proof wants one
		{"manage", names.EnvEnvelope, "raw", good, "raw"},
		{"manage", names.EnvEnvelope, "thin", ignored, "standard"},
		{"manage", names.EnvEndpointsPerHost, "20", good, 20},
		{"manage", names.EnvEndpointsPerHost, "", good, 0},
		{"manage", names.EnvEndpointsPerHost, "0", ignored, 0},
		{"manage", names.EnvEndpointsPerHost, "many", ignored, 0},
		{"manage", names.EnvPortalAccent, "#3b5bdb", good, "#3b5bdb"},
		{"dev", names.EnvPortalAccent, "red", ignored, ""},
		{"manage", names.EnvPortalLogo, "https://a.example/logo.svg", good, "https://a.example/logo.svg"},
		{"manage", names.EnvPortalLogo, "logo.svg", ignored, ""},
		{"manage", names.EnvPortalEmbedders, "https://a.example,https://b.example", good, []string{"https://a.example", "https://b.example"}},
		{"manage", names.EnvPortalEmbedders, "https://a.example,*", ignored, []string{"https://a.example"}},
		{"manage", names.EnvPortalEmbedders, "*", ignored, []string(nil)},
		{"deliver", names.EnvSenderRegions, "us-east-1,ap-southeast-2", good, []string{"us-east-1", "ap-southeast-2"}},
		{"manage", names.EnvFixedAddresses, "203.0.113.10,203.0.113.11", good, []netip.Addr{netip.MustParseAddr("203.0.113.10"), netip.MustParseAddr("203.0.113.11")}},
		{"manage", names.EnvFixedAddresses, "203.0.113.10,nat", fault, nil},
		{"manage", names.EnvSignatures, "github,slack", good, []string{"github", "slack"}},
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
		{"a host needs loopback", "deliver", map[string]string{names.EnvEgressHost: "h"}, names.EnvEgressHost},
		{"a host with loopback", "deliver", map[string]string{names.EnvEgressHost: "h", names.EnvEgress: names.EgressLoopback}, ""},
		{"destinations need the account", "deliver", map[string]string{names.EnvDestinations: "/surehook/"}, names.EnvAccount},
		{"deliver needs no principal", "deliver", map[string]string{names.EnvDestinations: "/surehook/", names.EnvAccount: "1"}, ""},
		{"manage needs the principal", "manage", map[string]string{names.EnvDestinations: "/surehook/", names.EnvAccount: "1"}, names.EnvPrincipal},
		{"manage with the principal", "manage", map[string]string{names.EnvDestinations: "/surehook/", names.EnvAccount: "1", names.EnvPrincipal: "arn"}, ""},
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
		names.EnvOIDCIssuer: "https://id.example.com/", names.EnvOIDCClientID: "surehook", names.EnvOIDCRoles: "operator=ops", names.EnvOIDCClaim: "roles",
		names.EnvOIDCScopes: "openid groups", names.EnvOIDCOrigins: "https://a.example,https://b.example",
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
		names.EnvOIDCIssuer: "id.example.com", names.EnvOIDCClientID: "", names.EnvOIDCRoles: "operators=ops", names.EnvOIDCOrigins: "https://token.example.com/",
	} {
		env := maps.Clone(env)
		env[name] = wrong
		got, ignored, err := config.Read("authorize", lookup(env))
		if err != nil || !reflect.DeepEqual(got.SignIn, names.SignIn{}) || !strings.Contains(errors.Join(ignored...).Error(), "SUREHOOK_OIDC_") {
			t.Errorf("Read() with %s=%q = %+v, %v, %v; want no sign-in, and the setting ignored", name, wrong, got.SignIn, ignored, err)
		}
	}
}
