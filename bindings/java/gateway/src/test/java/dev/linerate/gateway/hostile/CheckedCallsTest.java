package dev.linerate.gateway.hostile;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Runs five test classes of this package with {@code -Xcheck:jni}, which must print no warning. */
class CheckedCallsTest {
    @Test
    void checkedJniReportsNothing() throws Exception {
        String output = Child.run(
                300, List.of("-Xcheck:jni", "-Xmx1g"), CheckedCalls.class, BombTest.class.getName(),
                StreamEndTest.class.getName(), LossTest.class.getName(), ReaderTest.class.getName(),
                LifetimeTest.class.getName());
        assertTrue(output.trim().endsWith(" tests"), output);
        String lower = output.toLowerCase(Locale.ROOT);
        assertFalse(lower.contains("warning") || lower.contains("fatal error"), output);
    }
}
