package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/names"
)

// Lookup is os.LookupEnv or a replacement in a test.
type Lookup func(name string) (value string, ok bool)

// Read reads the settings of the function. err has all faults with which the function cannot
// start. ignored are the faults of settings that the function starts without, so that one wrong
// setting does not stop all requests.
func Read(function string, lookup Lookup) (s Settings, ignored []error, err error) {
	var faults []error
	for _, v := range s.variables() {
		if !v.of(function) {
			continue
		}
		text, _ := lookup(v.name)
		fault := v.fault(text)
		switch {
		case fault == nil:
		case v.need == setting:
			ignored = append(ignored, fault)
			text = v.repaired(text)
		default:
			faults = append(faults, fault)
			continue
		}
		if text != "" {
			v.parse(text)
		}
	}
	faults = append(faults, s.faults(function)...)
	// Without a whole sign-in, API keys alone open the API.
	if wrong := s.signInFaults(); len(wrong) > 0 {
		ignored = append(ignored, wrong...)
		s.SignIn = names.SignIn{}
	}
	return s, ignored, errors.Join(faults...)
}

// Variables returns the environment variables with the settings of the function.
func (s Settings) Variables(function string) map[string]string {
	all := map[string]string{}
	for _, v := range s.variables() {
		if text := v.text(); text != "" && v.of(function) {
			all[v.name] = text
		}
	}
	return all
}

// Faults returns what is wrong with those settings that have a value.
func (s Settings) Faults() []error {
	all := s.signInFaults()
	for _, v := range s.variables() {
		if text := v.text(); text != "" {
			all = append(all, v.fault(text))
		}
	}
	return slices.DeleteFunc(all, func(err error) bool { return err == nil })
}

// faults returns the faults of several settings together.
func (s Settings) faults(function string) (all []error) {
	if s.EgressHost != "" && s.Egress != names.EgressLoopback {
		all = append(all, errors.New("SUREHOOK_EGRESS_HOST is for the local stack only, with SUREHOOK_EGRESS="+names.EgressLoopback))
	}
	if s.Destinations != "" && s.Account == "" {
		all = append(all, errors.New("SUREHOOK_ACCOUNT is not set"))
	}
	if s.Destinations != "" && s.Principal == "" && function == "manage" {
		all = append(all, errors.New("SUREHOOK_PRINCIPAL is not set"))
	}
	return all
}

func (s Settings) signInFaults() (all []error) {
	for _, fault := range s.SignIn.Faults() {
		all = append(all, fmt.Errorf("SUREHOOK_OIDC_...: %w", fault))
	}
	return all
}

// of reports whether the function gets the variable.
func (v variable) of(function string) bool {
	return slices.Contains(strings.Fields(v.functions), function)
}

// parts returns the parts of a list, and any other text as it is.
func (v variable) parts(text string) []string {
	switch v.field.(type) {
	case *[]string, *[]netip.Addr:
		return strings.Split(text, ",")
	}
	return []string{text}
}

// fault returns what is wrong with the text of the variable; nil for nothing.
func (v variable) fault(text string) error {
	switch {
	case text == "" && v.need == required:
		return fmt.Errorf("%s is not set", v.name)
	case text == "" || v.valid == nil:
		return nil
	}
	var all []error
	for _, part := range v.parts(text) {
		if !v.valid(part) {
			all = append(all, fmt.Errorf("%s is %q, not %s", v.name, part, v.want))
		}
	}
	return errors.Join(all...)
}

// repaired returns the text without the wrong parts of a list, and in place of a wrong text what the
// table says.
func (v variable) repaired(text string) string {
	if _, list := v.field.(*[]string); !list {
		return v.instead
	}
	return strings.Join(slices.DeleteFunc(v.parts(text), func(part string) bool { return !v.valid(part) }), ",")
}

// parse sets the field from a valid text.
func (v variable) parse(text string) {
	switch field := v.field.(type) {
	case *string:
		*field = text
	case *[]string:
		*field = v.parts(text)
	case *int:
		*field, _ = strconv.Atoi(text)
	case *time.Duration:
		*field, _ = time.ParseDuration(text)
	case *netip.AddrPort:
		*field, _ = netip.ParseAddrPort(text) // as Lambda sets it
	case *[]netip.Addr:
		for _, part := range v.parts(text) {
			address, _ := netip.ParseAddr(part)
			*field = append(*field, address)
		}
	}
}

// text is the inverse of parse; empty for a zero field.
func (v variable) text() string {
	switch field := v.field.(type) {
	case *string:
		return *field
	case *[]string:
		return strings.Join(*field, ",")
	case *int:
		if *field != 0 {
			return strconv.Itoa(*field)
		}
	case *time.Duration:
		if *field != 0 {
			return field.String()
		}
	}
	return "" // of what the deployment does not write
}

func oneOf(words ...string) func(string) bool {
	return func(text string) bool { return slices.Contains(words, text) }
}

func validCount(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1
}

func validRetention(text string) bool {
	d, err := time.ParseDuration(text)
	return err == nil && d >= names.MinRetention
}

func validAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}
