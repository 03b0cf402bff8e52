package config_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/names"
)

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
				t.Errorf("%s reads f.%s, which it does not get", function, path)
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
		"SUREHOOK_EGRESS": names.EgressLoopback, "SUREHOOK_EGRESS_HOST": "h", "SUREHOOK_PUBLIC_URL": "https://hooks.example.com", "SUREHOOK_SENDER_REGIONS": "us-east-1",
		"SUREHOOK_FIXED_ADDRESSES": "203.0.113.10", "SUREHOOK_PRIVATE_ALLOW": "[]", "SUREHOOK_PRIVATE_CA": "pem", "SUREHOOK_DESTINATIONS": "/surehook/", "SUREHOOK_ACCOUNT": "111122223333", "SUREHOOK_PRINCIPAL": "arn",
		"SUREHOOK_OWNERSHIP": names.OwnershipChallenge, "SUREHOOK_ENDPOINTS_PER_HOST": "2", "SUREHOOK_SIGNATURE_PROFILES": "{}", "SUREHOOK_SIGNATURES": "standard",
		"SUREHOOK_PORTAL_NAME": "Acme", "SUREHOOK_OIDC_ISSUER": "https://id.example.com", "SUREHOOK_OIDC_CLIENT_ID": "surehook", "SUREHOOK_OIDC_ROLES": "operator=ops",
	})
	return env
}()

// each calls f with the settings and their paths, such as Queues.Live.
func each(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	for i := range v.NumField() {
		name := strings.TrimPrefix(path+"."+v.Type().Field(i).Name, ".")
		switch name {
		case "Queues":
			each(v.Field(i), name, f)
		case "Choices":
			each(v.Field(i), "", f)
		default:
			f(name, v.Field(i))
		}
	}
}

func hasBelow(all map[string]bool, path string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(one string) bool { return strings.HasPrefix(one, path+".") })
}

func hasAbove(all map[string]bool, path string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(one string) bool { return strings.HasPrefix(path, one+".") })
}

var (
	field  = regexp.MustCompile(`\bf\.((?:Queues\.)?[A-Z]\w*)`)
	whole  = regexp.MustCompile(`\bq := f\.Queues\b`)
	short  = regexp.MustCompile(`\bq\.([A-Z]\w*)`)
	called = regexp.MustCompile(`\b(?:wire\.)?([A-Z]\w*)\(f[,)]`)
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
			if !slices.Contains([]string{"SDK", "Metrics", "Log", "Now", "Ignore"}, found[1]) { // not of a setting
				used[found[1]] = true
			}
		}
		if whole.MatchString(text) {
			delete(used, "Queues")
			for _, found := range short.FindAllStringSubmatch(text, -1) {
				used["Queues."+found[1]] = true
			}
		}
		for _, found := range called.FindAllStringSubmatch(text, -1) {
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
