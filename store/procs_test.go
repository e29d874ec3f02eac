package store_test

import "os"

// roleVar tells the re-executed test binary what to do.
const roleVar = "STORE_TEST_ROLE"

func runChild(string) int { return 1 }

var _ = os.Args
