package net.dv8tion.jda.api.exceptions;

import java.io.IOException;

/**
 * A test double: the name, the superclass and the constructors of the class that JDA's pull request 2985
 * proposes, and nothing else of it. It is compiled against and never packaged; JDA brings the class.
 */
public class DecompressionException extends IOException {
    private static final long serialVersionUID = 1L;

    /**
     * Wraps another error.
     *
     * @param cause the error
     */
    public DecompressionException(Throwable cause) {
        super(cause);
    }

    /**
     * Creates an exception with a message.
     *
     * @param message a sentence
     */
    public DecompressionException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a message and a cause.
     *
     * @param message a sentence
     * @param cause the error
     */
    public DecompressionException(String message, Throwable cause) {
        super(message, cause);
    }
}
