package surehook

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

var optionSets = flag.String("templates", "", "the folder for the templates of all option sets")

// sets are the settings that change what a stack consists of. Each is tried alone, because a
// template with all of them hides what one needs from another. The rest are variables of functions.
func sets() map[string]func(*Environment) {
	all := customised()
	return map[string]func(*Environment){
		"alarm-email":  func(env *Environment) { env.AlarmEmail = all.AlarmEmail },
		"traces-xray":  func(env *Environment) { env.Traces = names.TracesXRay },
		"traces-https": func(env *Environment) { env.Traces = "https://collector.example.com/v1/traces" },
		"event-bus":    func(env *Environment) { env.Events = all.Events },
		"producers":    func(env *Environment) { env.Producers = all.Producers },
		"senders":      func(env *Environment) { env.Senders = all.Senders },
		"fixed-one":    func(env *Environment) { env.FixedZones = 1 },
		"fixed-two":    func(env *Environment) { env.FixedZones = 2 },
		"destinations": func(env *Environment) { env.Destinations = all.Destinations },
		"domain":       func(env *Environment) { env.Domain = all.Domain },
		"fixed-own": func(env *Environment) {
			env.FixedZones, env.FixedAllocations = 1, []Allocation{{"eipalloc-0a", "198.51.100.7"}}
		},
		"private-made":  func(env *Environment) { env.Private = Private{Allow: `[{"cidrs":["10.20.0.0/16"],"ports":[443]}]`} },
		"private-given": func(env *Environment) { env.Private = privateNetwork() },
		"private-groups": func(env *Environment) {
			env.Private = Private{Allow: privateList, Subnets: []string{"subnet-0a1b2c3d"}, Groups: []string{"sg-0a1b2c3d"}}
		},
		"all-in-prod":   func(env *Environment) { *env = everything(*env) },
		"all-beside-it": func(env *Environment) { *env = customised() },
	}
}

// everything returns the environment with each optional setting that it lacks.
func everything(env Environment) Environment {
	to, from := reflect.ValueOf(&env).Elem(), reflect.ValueOf(customised())
	for _, f := range reflect.VisibleFields(to.Type()) {
		if field := to.FieldByIndex(f.Index); !f.Anonymous && field.IsZero() {
			field.Set(from.FieldByIndex(f.Index))
		}
	}
	return env
}

// TestOptions_all checks that a new setting joins the option sets: without it, nothing of it would
// be checked.
func TestOptions_all(t *testing.T) {
	t.Parallel()

	env := everything(environments("arm64")[2])
	values := reflect.ValueOf(env)
	for _, f := range reflect.VisibleFields(values.Type()) {
		name := f.Name
		// A host of this machine; sets of their own; throughput of a new table; two variables of functions.
		if values.FieldByIndex(f.Index).IsZero() && !slices.Contains([]string{"EgressHost", "FixedAllocations", "Private", "WarmThroughput", "Validation", "Envelope"}, name) {
			t.Errorf("no option set has the setting %s", name)
		}
	}
}

// TestOptions_write writes the templates of all option sets, for make lint/templates.
func TestOptions_write(t *testing.T) {
	t.Parallel()

	if *optionSets == "" {
		t.Skip("only with -args -templates FOLDER")
	}
	templateOf(t, "prod") // CDK is not safe for concurrent use
	dist, err := newDist()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dist) //nolint:errcheck // the system clears its temporary folder
	flags, err := featureFlags()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, tpl template) {
		text, err := json.Marshal(tpl.raw)
		if err == nil {
			err = os.WriteFile(filepath.Join(*optionSets, strings.ReplaceAll(name, " ", "-")+".template.json"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dev", "staging", "prod", "local", "released prod", "released custom"} {
		write(name, templateOf(t, name))
	}
	for name, set := range sets() {
		env := environments("arm64")[2]
		set(&env)
		env.Name = name
		app := awscdk.NewApp(&awscdk.AppProps{Context: &flags, Outdir: jsii.String(filepath.Join(dist, "out-"+name)), AnalyticsReporting: jsii.Bool(false)})
		props := Props{Environment: env, Dist: dist, Version: "test"}
		stack, err := NewStack(app, props)
		if err != nil {
			t.Fatal(name, err)
		}
		senders, err := NewSenders(app, props)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, one := range append(senders, stack) {
			tpl, err := newTemplate(one)
			if err != nil {
				t.Fatal(name, err)
			}
			write(*one.StackName(), tpl)
		}
	}
}
