package egress_test

import (
	"fmt"

	"surehook.example/surehook/internal/delivery/egress"
)

func ExamplePolicy_CheckURL() {
	var policy egress.Policy
	for _, url := range []string{"https://example.com/hooks", "http://example.com/hooks", "https://127.1/hooks"} {
		fmt.Printf("%s: %q\n", url, policy.CheckURL(url))
	}
	// Output:
	// https://example.com/hooks: ""
	// http://example.com/hooks: "must begin with https://"
	// https://127.1/hooks: "must write an IP address in its plain form, such as 192.0.2.1 or [2001:db8::1]"
}
