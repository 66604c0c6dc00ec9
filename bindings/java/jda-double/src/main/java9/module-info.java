/** A test double, named as JDA's jar names its module. */
module net.dv8tion.jda {
    exports net.dv8tion.jda.api.exceptions;
    exports net.dv8tion.jda.api.requests.gateway.compression;
}
